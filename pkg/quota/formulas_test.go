package quota

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// gpu is the flavor and resource of most cases.
var gpu = FlavorResource{"a100", "nvidia.com/gpu"}

// limit is a quota with its limits; negative limits are not set.
type limit struct{ nominal, borrow, lend int64 }

func plain(nominal int64) limit { return limit{nominal, -1, -1} }

func (l limit) group() []kueue.ResourceGroup {
	q := kueue.ResourceQuota{Name: gpu.Resource, NominalQuota: *resource.NewQuantity(l.nominal, resource.DecimalSI)}
	if l.borrow >= 0 {
		q.BorrowingLimit = resource.NewQuantity(l.borrow, resource.DecimalSI)
	}
	if l.lend >= 0 {
		q.LendingLimit = resource.NewQuantity(l.lend, resource.DecimalSI)
	}
	return []kueue.ResourceGroup{{
		CoveredResources: []corev1.ResourceName{gpu.Resource},
		Flavors:          []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(gpu.Flavor), Resources: []kueue.ResourceQuota{q}}},
	}}
}

func clusterQueue(name, cohort string, l limit) *kueue.ClusterQueue {
	return &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{CohortName: kueue.CohortReference(cohort), ResourceGroups: l.group()}}
}

func cohort(name, parent string, l *limit) *kueue.Cohort {
	out := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}}
	if l != nil {
		out.Spec.ResourceGroups = l.group()
	}
	return out
}

func use(n *Node, v Amount) { n.Add(n.Delta(Usage{gpu: v})) }

// TestFormulas checks the sums of one tree: two queues below a cohort, or more, with what they use.
func TestFormulas(t *testing.T) {
	type want struct {
		available, potential, borrowed, subtree, guaranteed, local Amount
		borrowing                                                  bool
	}
	own := limit{5, -1, -1}
	cases := map[string]struct {
		queues  []*kueue.ClusterQueue
		cohorts []*kueue.Cohort
		used    map[string]Amount
		want    map[string]want
	}{
		"a queue on its own has what it has": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "", plain(8))},
			used:   map[string]Amount{"a": 3},
			want:   map[string]want{"a": {available: 5, potential: 8, subtree: 8}},
		},
		"a queue over its quota has nothing left, not less": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "", plain(8))},
			used:   map[string]Amount{"a": 11},
			want:   map[string]want{"a": {available: 0, potential: 8, subtree: 8, borrowing: true}},
		},
		"the worked example: nominal 8, may borrow 4, the peer lends 6 of 16": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "c", limit{8, 4, -1}), clusterQueue("b", "c", limit{16, -1, 6})},
			want: map[string]want{
				"a": {available: 12, potential: 12, subtree: 8},
				"b": {available: 24, potential: 24, subtree: 16, guaranteed: 10, local: 10},
				"c": {available: 14, potential: 14, subtree: 14},
			},
		},
		"a borrower takes from what others lend": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "c", limit{8, 4, -1}), clusterQueue("b", "c", limit{16, -1, 6})},
			used:   map[string]Amount{"a": 11, "b": 12},
			want: map[string]want{
				"a": {available: 1, potential: 12, borrowed: 3, subtree: 8, borrowing: true},
				"b": {available: 1, potential: 24, subtree: 16, guaranteed: 10},
				"c": {available: 1, potential: 14, subtree: 14},
			},
		},
		"no borrowing at all": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "c", limit{8, 0, -1}), clusterQueue("b", "c", plain(16))},
			used:   map[string]Amount{"a": 6},
			want:   map[string]want{"a": {available: 2, potential: 8, subtree: 8}},
		},
		"lending nothing keeps all": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "c", plain(8)), clusterQueue("b", "c", limit{16, -1, 0})},
			want: map[string]want{
				"a": {available: 8, potential: 8, subtree: 8},
				"b": {available: 24, potential: 24, subtree: 16, guaranteed: 16, local: 16},
				"c": {available: 8, potential: 8, subtree: 8},
			},
		},
		"a cohort has quota of its own": {
			queues:  []*kueue.ClusterQueue{clusterQueue("a", "c", plain(2))},
			cohorts: []*kueue.Cohort{cohort("c", "", &own)},
			used:    map[string]Amount{"a": 4},
			want: map[string]want{
				"a": {available: 3, potential: 7, borrowed: 2, subtree: 2, borrowing: true},
				"c": {available: 3, potential: 7, subtree: 7},
			},
		},
		"quota is borrowed from a cohort's cousins, as far as it may": {
			queues: []*kueue.ClusterQueue{clusterQueue("a", "left", plain(2)), clusterQueue("b", "right", plain(10))},
			cohorts: []*kueue.Cohort{
				cohort("left", "root", &limit{0, 3, -1}), cohort("right", "root", &limit{0, -1, 4}), cohort("root", "", nil),
			},
			used: map[string]Amount{"a": 4},
			want: map[string]want{
				"a":     {available: 1, potential: 5, borrowed: 2, subtree: 2, borrowing: true},
				"left":  {available: 1, potential: 5, borrowed: 2, subtree: 2, borrowing: true},
				"right": {available: 8, potential: 12, subtree: 10, guaranteed: 6, local: 6},
				"root":  {available: 2, potential: 6, subtree: 6},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Build(tc.queues, tc.cohorts)
			for queue, v := range tc.used {
				use(f.Queue(queue), v)
			}
			for name, w := range tc.want {
				n := f.Queue(name)
				if n == nil {
					n = f.Cohort(name)
				}
				got := want{n.Available(gpu), n.PotentialAvailable(gpu), n.Borrowed(gpu), n.SubtreeQuota(gpu), n.Guaranteed(gpu), n.LocalAvailable(gpu), n.Borrowing(gpu)}
				if got != w {
					t.Errorf("%s: got %+v, want %+v", name, got, w)
				}
			}
		})
	}
}

func TestAmountsSaturate(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	for name, tc := range map[string]struct{ got, want Amount }{
		"a sum of two":                         {Amount(2).Add(3), 5},
		"too large a sum":                      {Amount(most - 1).Add(5), most},
		"too small a sum":                      {Amount(least + 1).Add(-5), least},
		"unlimited plus anything":              {Unlimited.Add(-5), Unlimited},
		"unlimited less anything":              {Unlimited.Sub(1 << 60), Unlimited},
		"unlimited less unlimited":             {Unlimited.Sub(Unlimited), 0},
		"anything less unlimited":              {Amount(5).Sub(Unlimited), least},
		"less the least there is":              {Amount(1).Sub(least), most},
		"a negative less the least there is":   {Amount(-1).Sub(least), most},
		"too small a difference":               {Amount(least + 1).Sub(5), least},
		"cpu counts in milli":                  {AmountOf("cpu", resource.MustParse("1500m")), 1500},
		"memory counts in bytes":               {AmountOf("memory", resource.MustParse("1Ki")), 1024},
		"fractions are rounded up":             {AmountOf("memory", resource.MustParse("1500m")), 2},
		"cpu beyond int64 in milli":            {AmountOf("cpu", resource.MustParse("9223372036854776")), Unlimited},
		"beyond int64":                         {AmountOf("nvidia.com/gpu", resource.MustParse("100E")), Unlimited},
		"just within int64 is not unlimited":   {AmountOf("nvidia.com/gpu", resource.MustParse("9223372036854775806")), most - 1},
		"a negative quota, refused or not yet": {AmountOf("nvidia.com/gpu", resource.MustParse("-3")), -3},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %d, want %d", name, tc.got, tc.want)
		}
	}
}

func TestUnlimitedQuotaIsNotUsedUp(t *testing.T) {
	f := Build([]*kueue.ClusterQueue{clusterQueue("a", "c", plain(math.MaxInt64)), clusterQueue("b", "c", plain(2))}, nil)
	use(f.Queue("a"), 1<<40)
	use(f.Queue("b"), 7)
	for _, name := range []string{"a", "b"} {
		if got := f.Queue(name).Available(gpu); got != Unlimited {
			t.Errorf("%s: %d available, want no limit", name, got)
		}
	}
}

func TestTreesOfCohorts(t *testing.T) {
	queues := []*kueue.ClusterQueue{
		clusterQueue("alone", "", plain(1)), clusterQueue("a", "left", plain(1)), clusterQueue("b", "implied", plain(1)),
		clusterQueue("c", "round", plain(1)), clusterQueue("d", "below-round", plain(1)),
	}
	cohorts := []*kueue.Cohort{
		cohort("left", "root", nil), cohort("empty", "root", nil), cohort("root", "above", nil),
		cohort("round", "about", nil), cohort("about", "round", nil), cohort("below-round", "about", nil),
	}
	f := Build(queues, cohorts)
	type place struct {
		parent           string
		height           int
		implicit, cyclic bool
	}
	want := map[string]place{
		"above": {height: 3, implicit: true}, "root": {parent: "above", height: 2}, "left": {parent: "root", height: 1}, "empty": {parent: "root"},
		"implied": {height: 1, implicit: true}, "round": {cyclic: true}, "about": {cyclic: true}, "below-round": {cyclic: true},
	}
	for name, w := range want {
		n := f.Cohort(name)
		got := place{height: n.height, implicit: n.Implicit, cyclic: n.Cyclic}
		if n.Parent() != nil {
			got.parent = n.Parent().Name
		}
		if got != w {
			t.Errorf("cohort %s: got %+v, want %+v", name, got, w)
		}
	}
	for name, cyclic := range map[string]bool{"a": false, "alone": false, "c": true, "d": true} {
		if n := f.Queue(name); n.Cyclic != cyclic || cyclic && n.Parent() != nil {
			t.Errorf("queue %s: cyclic %t below %v, want cyclic %t, and alone then", name, n.Cyclic, n.Parent(), cyclic)
		}
	}
	f.Hide(func(queue string) bool { return queue == "a" })
	if got := f.Cohort("above").height; got != 2 {
		t.Errorf("height above a cohort whose only queue is hidden: got %d, want 2", got)
	}
	if f.Cohort("nobody") != nil || f.Queue("nobody") != nil {
		t.Error("something that nothing names was found")
	}
}

func TestBorrowingHeight(t *testing.T) {
	f := Build([]*kueue.ClusterQueue{clusterQueue("a", "left", plain(2)), clusterQueue("b", "left", plain(3)), clusterQueue("c", "right", plain(10)), clusterQueue("alone", "", plain(1))},
		[]*kueue.Cohort{cohort("left", "root", nil), cohort("right", "root", nil)})
	use(f.Queue("b"), 1)
	for name, tc := range map[string]struct {
		queue   string
		v       Amount
		height  int
		smaller bool
	}{
		"its own quota does":        {"a", 2, 0, true},
		"the sibling's does":        {"a", 4, 1, true},
		"the cousin's does":         {"a", 8, 2, false},
		"nothing does":              {"a", 99, 2, false},
		"without cohort":            {"alone", 1, 0, false},
		"without cohort, too much":  {"alone", 5, 0, false},
		"the cousin's is its own":   {"c", 10, 0, true},
		"more than that is the top": {"c", 11, 2, false},
	} {
		if height, smaller := f.Queue(tc.queue).BorrowingHeight(gpu, tc.v); height != tc.height || smaller != tc.smaller {
			t.Errorf("%s: got height %d, smaller %t; want %d, %t", name, height, smaller, tc.height, tc.smaller)
		}
	}
}

func TestShares(t *testing.T) {
	weigh := func(q *kueue.ClusterQueue, w string) *kueue.ClusterQueue {
		weight := resource.MustParse(w)
		q.Spec.FairSharing = &kueue.FairSharing{Weight: &weight}
		return q
	}
	f := Build([]*kueue.ClusterQueue{
		clusterQueue("idle", "c", plain(6)), clusterQueue("borrows", "c", plain(2)), weigh(clusterQueue("heavy", "c", plain(2)), "2"),
		weigh(clusterQueue("weightless", "c", plain(0)), "0"), clusterQueue("alone", "", plain(1)),
	}, nil)
	for name, v := range map[string]Amount{"idle": 1, "borrows": 5, "heavy": 5, "weightless": 1, "alone": 3} {
		use(f.Queue(name), v)
	}
	for name, want := range map[string]float64{"idle": 0, "borrows": 300, "heavy": 150, "weightless": math.Inf(1), "alone": 0} {
		if got := f.Queue(name).Share().Value(); got != want {
			t.Errorf("share of %s: got %v, want %v", name, got, want)
		}
	}
	order := []Share{NoShare(), f.Queue("idle").Share(), f.Queue("heavy").Share(), f.Queue("borrows").Share(), f.Queue("weightless").Share()}
	for i := range order {
		for j := range order {
			if got, want := order[i].Compare(order[j]), min(1, max(-1, i-j)); got != want {
				t.Errorf("share %d against %d: got %d, want %d", i, j, got, want)
			}
		}
	}
	asked := f.Queue("borrows").Delta(Usage{gpu: 1})
	if !f.Queue("borrows").BorrowsAny(asked) || f.Queue("idle").BorrowsAny(asked) {
		t.Error("who borrows what is asked for is mistaken")
	}
	use(f.Queue("borrows"), -3)
	if got := f.Queue("borrows").Share().Value(); got != 0 {
		t.Errorf("a share after what was borrowed is given back: got %v, want 0", got)
	}
	f.SetLimits("idle", gpu, Limits{Nominal: 1})
	use(f.Queue("borrows"), 3)
	if got := f.Queue("borrows").Share().Value(); got != 600 {
		t.Errorf("a share of half of what there was: got %v, want 600", got)
	}
}
