package quota

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// randomForest is a forest of up to six queues in up to four cohorts, at most three deep.
func randomForest(r *rand.Rand) (*Forest, []*Node) {
	some := func(bound int64) int64 {
		if r.IntN(2) == 0 {
			return -1
		}
		return r.Int64N(bound)
	}
	random := func() limit { return limit{r.Int64N(10), some(8), some(8)} }
	var cohorts []*kueue.Cohort
	n := 1 + r.IntN(4)
	for i := range n {
		parent := ""
		if i > 0 && r.IntN(3) > 0 {
			parent = fmt.Sprintf("c%d", r.IntN(i))
		}
		var own *limit
		if r.IntN(2) == 0 {
			l := random()
			own = &l
		}
		cohorts = append(cohorts, cohort(fmt.Sprintf("c%d", i), parent, own))
	}
	var queues []*kueue.ClusterQueue
	for i := range 1 + r.IntN(6) {
		queues = append(queues, clusterQueue(fmt.Sprintf("q%d", i), fmt.Sprintf("c%d", r.IntN(n)), random()))
	}
	f := Build(queues, cohorts)
	var nodes []*Node
	for _, q := range queues {
		nodes = append(nodes, f.Queue(q.Name))
	}
	return f, nodes
}

// all are the nodes at and below the roots.
func all(f *Forest) []*Node {
	var out []*Node
	var walk func(*Node)
	walk = func(n *Node) {
		out = append(out, n)
		for _, c := range n.Cohorts() {
			walk(c)
		}
		for _, q := range n.Queues() {
			walk(q)
		}
	}
	for _, root := range f.Roots() {
		walk(root)
	}
	return out
}

func usages(f *Forest) map[string]Amount {
	out := map[string]Amount{}
	for _, n := range all(f) {
		out[n.Name] = n.Used(gpu)
	}
	return out
}

func TestUsageAddsUpInEveryTree(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		f, queues := randomForest(r)
		for range 1 + r.IntN(6) {
			use(queues[r.IntN(len(queues))], Amount(r.Int64N(12)))
		}
		for _, n := range all(f) {
			if n.Queue {
				continue
			}
			var used, quota Amount
			quota = n.Limits(gpu).Nominal
			for _, children := range [][]*Node{n.Cohorts(), n.Queues()} {
				for _, c := range children {
					used += max(0, c.Used(gpu)-c.Guaranteed(gpu))
					quota += c.SubtreeQuota(gpu) - c.Guaranteed(gpu)
				}
			}
			if n.Used(gpu) != used || n.SubtreeQuota(gpu) != quota {
				t.Fatalf("seed %d: cohort %s uses %d of %d; the nodes below add up to %d of %d", seed, n.Name, n.Used(gpu), n.SubtreeQuota(gpu), used, quota)
			}
		}
	}
}

func TestRemovingWhatWasAddedRestoresTheTree(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		f, queues := randomForest(r)
		for range r.IntN(4) {
			use(queues[r.IntN(len(queues))], Amount(r.Int64N(12)))
		}
		before := usages(f)
		type added struct {
			node *Node
			d    Delta
		}
		var stack []added
		for range 1 + r.IntN(6) {
			q := queues[r.IntN(len(queues))]
			a := added{q, q.Delta(Usage{gpu: Amount(r.Int64N(12))})}
			q.Add(a.d)
			stack = append(stack, a)
		}
		r.Shuffle(len(stack), func(i, j int) { stack[i], stack[j] = stack[j], stack[i] }) // in any order
		for _, a := range stack {
			a.node.Remove(a.d)
		}
		for name, v := range usages(f) {
			if v != before[name] {
				t.Fatalf("seed %d: %s uses %d after removal, %d before", seed, name, v, before[name])
			}
		}
	}
}

// TestRemovingTheLastFirstRestoresTheTree: also where some amounts are below zero.
func TestRemovingTheLastFirstRestoresTheTree(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 6))
		f, queues := randomForest(r)
		for range r.IntN(6) {
			use(queues[r.IntN(len(queues))], Amount(r.Int64N(12)))
		}
		before := usages(f)
		var undo []func()
		for range 1 + r.IntN(6) {
			q := queues[r.IntN(len(queues))]
			d := q.Delta(Usage{gpu: Amount(r.Int64N(24) - 12)})
			q.Add(d)
			undo = append(undo, func() { q.Remove(d) })
		}
		for _, f := range slices.Backward(undo) {
			f()
		}
		for name, v := range usages(f) {
			if v != before[name] {
				t.Fatalf("seed %d: %s uses %d after removal, %d before", seed, name, v, before[name])
			}
		}
	}
}

func TestNothingIsAvailableBeyondWhatCouldEverBe(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		f, queues := randomForest(r)
		for _, q := range queues {
			if got, most := q.Available(gpu), q.PotentialAvailable(gpu); got != most {
				t.Fatalf("seed %d: of an unused tree %s could take %d, at most %d", seed, q.Name, got, most)
			}
		}
		for range r.IntN(6) {
			use(queues[r.IntN(len(queues))], Amount(r.Int64N(12)))
		}
		for _, n := range all(f) {
			if got, most := n.Available(gpu), n.PotentialAvailable(gpu); got > most {
				t.Fatalf("seed %d: %d are available to %s, which could have %d at most", seed, got, n.Name, most)
			}
		}
	}
}

// TestWhatGoesMakesNoMoreAvailableThanItHeld is what lets a search for victims give up early.
func TestWhatGoesMakesNoMoreAvailableThanItHeld(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 4))
		_, queues := randomForest(r)
		for range 1 + r.IntN(6) {
			use(queues[r.IntN(len(queues))], Amount(r.Int64N(12)))
		}
		from, to := queues[r.IntN(len(queues))], queues[r.IntN(len(queues))]
		v := Amount(r.Int64N(int64(from.Used(gpu)) + 1))
		before := to.Available(gpu)
		from.Remove(from.Delta(Usage{gpu: v}))
		if gained := to.Available(gpu) - before; gained < 0 || gained > v {
			t.Fatalf("seed %d: %d less in %s makes %d more available to %s", seed, v, from.Name, gained, to.Name)
		}
	}
}

func TestWhatIsTakenWithinTheAvailableFits(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		f, queues := randomForest(r)
		for range 8 {
			q := queues[r.IntN(len(queues))]
			use(q, Amount(r.Int64N(int64(q.Available(gpu))+1)))
		}
		for _, root := range f.Roots() {
			if root.Used(gpu) > root.SubtreeQuota(gpu) {
				t.Fatalf("seed %d: the tree of %s uses %d of %d", seed, root.Name, root.Used(gpu), root.SubtreeQuota(gpu))
			}
		}
		for _, q := range queues {
			if l := q.Limits(gpu).BorrowingLimit; l != nil && q.Parent() != nil && q.Borrowed(gpu) > *l {
				t.Fatalf("seed %d: %s borrows %d, its limit is %d", seed, q.Name, q.Borrowed(gpu), *l)
			}
		}
	}
}
