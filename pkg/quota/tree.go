package quota

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
)

// FlavorResource is what quota is counted by: one resource in one flavor.
type FlavorResource struct {
	Flavor   string
	Resource corev1.ResourceName
}

// Compare orders by flavor, then by resource.
func (f FlavorResource) Compare(o FlavorResource) int {
	return cmp.Or(cmp.Compare(f.Flavor, o.Flavor), cmp.Compare(f.Resource, o.Resource))
}

// Usage is an amount for each flavor and resource.
type Usage map[FlavorResource]Amount

// Sorted lists the keys in order.
func (u Usage) Sorted() []FlavorResource {
	return slices.SortedFunc(maps.Keys(u), FlavorResource.Compare)
}

// Limits is the quota that one node sets for one flavor and resource.
type Limits struct {
	Nominal Amount
	// BorrowingLimit and LendingLimit are nil when not set: no limit.
	BorrowingLimit, LendingLimit *Amount
}

// Forest is all cohort trees, queues without cohort included.
type Forest struct {
	queues, cohorts map[string]*Node
}

// Build makes the trees. No usage is counted yet; add it with [Node.Add]. Names that occur twice count once, the last
// one. The objects are only read.
func Build(queues []*kueue.ClusterQueue, cohorts []*kueue.Cohort) *Forest {
	f := &Forest{queues: map[string]*Node{}, cohorts: map[string]*Node{}}
	parents := map[*Node]string{}
	for _, c := range cohorts {
		n := newNode(c.Name, false, c.Spec.ResourceGroups, c.Spec.FairSharing)
		f.cohorts[c.Name] = n
		parents[n] = string(c.Spec.ParentName)
	}
	for _, q := range queues {
		n := newNode(q.Name, true, q.Spec.ResourceGroups, q.Spec.FairSharing)
		f.queues[q.Name] = n
		parents[n] = string(q.Spec.CohortName)
	}
	for _, name := range slices.Sorted(maps.Keys(f.cohorts)) {
		f.adopt(f.cohorts[name], parents[f.cohorts[name]])
	}
	for _, name := range slices.Sorted(maps.Keys(f.queues)) {
		f.adopt(f.queues[name], parents[f.queues[name]])
	}
	f.cutCycles()
	for _, name := range slices.Sorted(maps.Keys(f.cohorts)) {
		n := f.cohorts[name]
		slices.SortFunc(n.cohorts, byName)
		slices.SortFunc(n.queues, byName)
	}
	for _, root := range f.Roots() {
		root.index = &index{ids: map[FlavorResource]int{}}
		root.settle()
		root.resum()
		root.measure(nil)
	}
	return f
}

// Hide leaves queues out of the heights of the trees, as Kueue does with queues that take no workloads. Their quota
// and usage stay.
func (f *Forest) Hide(hidden func(queue string) bool) {
	for _, root := range f.Roots() {
		root.measure(hidden)
	}
}

func byName(a, b *Node) int { return cmp.Compare(a.Name, b.Name) }

// adopt puts a node below the cohort it names, which exists from now on.
func (f *Forest) adopt(n *Node, cohort string) {
	if cohort == "" {
		return
	}
	parent := f.cohorts[cohort]
	if parent == nil {
		parent = newNode(cohort, false, nil, nil)
		parent.Implicit = true
		f.cohorts[cohort] = parent
	}
	n.parent = parent
	if n.Queue {
		parent.queues = append(parent.queues, n)
	} else {
		parent.cohorts = append(parent.cohorts, n)
	}
}

// cutCycles takes cohorts that are their own ancestors apart, and marks them and all below: Kueue leaves them alone.
func (f *Forest) cutCycles() {
	parent := func(cohort string) string {
		if above := f.cohorts[cohort].parent; above != nil {
			return above.Name
		}
		return ""
	}
	var cut []*Node
	for _, n := range f.cohorts {
		if queuestate.Ancestors(n.Name, parent).Endless() {
			cut = append(cut, n)
		}
	}
	for _, n := range cut {
		n.Cyclic = true
		for _, q := range n.queues {
			q.Cyclic, q.parent = true, nil
		}
	}
	for _, n := range cut {
		n.parent, n.cohorts, n.queues = nil, nil, nil
	}
}

// Queue is the node of a ClusterQueue; nil when there is none of that name.
func (f *Forest) Queue(name string) *Node { return f.queues[name] }

// Cohort is the node of a cohort; nil when nothing names it.
func (f *Forest) Cohort(name string) *Node { return f.cohorts[name] }

// Roots lists the nodes without parent: cohorts first, then queues without cohort, each by name.
func (f *Forest) Roots() []*Node {
	var out []*Node
	for _, of := range []map[string]*Node{f.cohorts, f.queues} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if of[name].parent == nil {
				out = append(out, of[name])
			}
		}
	}
	return out
}

// SetLimits changes the quota of a ClusterQueue and sums its tree up again. Usage stays.
func (f *Forest) SetLimits(queue string, fr FlavorResource, l Limits) {
	n := f.queues[queue]
	if n == nil {
		return
	}
	n.limits[fr] = l
	n.Root().resum()
}
