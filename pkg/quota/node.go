package quota

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Node is a ClusterQueue or a cohort in its tree.
type Node struct {
	Name string
	// Queue tells a ClusterQueue from a cohort.
	Queue bool
	// Implicit: the cohort is named, but has no Cohort object.
	Implicit bool
	// Cyclic: the node is in, or below, a cohort that is its own ancestor. Such a node stands alone here.
	Cyclic bool
	// Weight of fair sharing; 1 when not set.
	Weight float64

	parent          *Node
	cohorts, queues []*Node
	height          int

	limits map[FlavorResource]Limits
	index  *index
	slots  []slot

	// share is kept until usage changes, lendable until limits do.
	share    Share
	shared   bool
	lendable map[corev1.ResourceName]Amount
}

// index numbers the flavors and resources of one tree.
type index struct {
	ids  map[FlavorResource]int
	keys []FlavorResource
}

// slot is one node's account of one flavor and resource.
type slot struct {
	Limits
	// defined: the node or a node below it lists the flavor and resource.
	defined bool
	// subtree is the node's own quota and what nodes below it lend; usage is what counts against it.
	subtree, usage Amount
}

func newNode(name string, queue bool, groups []kueue.ResourceGroup, fair *kueue.FairSharing) *Node {
	n := &Node{Name: name, Queue: queue, Weight: 1, limits: map[FlavorResource]Limits{}}
	if fair != nil && fair.Weight != nil {
		w := fair.Weight.DeepCopy() // AsFloat64Slow may rewrite its receiver
		n.Weight = w.AsFloat64Slow()
	}
	for _, group := range groups {
		for _, flavor := range group.Flavors {
			for _, q := range flavor.Resources {
				l := Limits{Nominal: AmountOf(q.Name, q.NominalQuota)}
				if q.BorrowingLimit != nil {
					l.BorrowingLimit = new(AmountOf(q.Name, *q.BorrowingLimit))
				}
				if q.LendingLimit != nil {
					l.LendingLimit = new(AmountOf(q.Name, *q.LendingLimit))
				}
				n.limits[FlavorResource{string(flavor.Name), q.Name}] = l
			}
		}
	}
	return n
}

// measure computes heights: the distance to the furthest node below.
func (n *Node) measure(hidden func(string) bool) {
	n.height = 0
	for _, q := range n.queues {
		if hidden == nil || !hidden(q.Name) {
			n.height = 1
		}
	}
	for _, c := range n.cohorts {
		c.measure(hidden)
		n.height = max(n.height, c.height+1)
	}
}

// settle numbers the flavors and resources at and below a root.
func (n *Node) settle() {
	for _, fr := range slices.SortedFunc(maps.Keys(n.limits), FlavorResource.Compare) {
		n.index.number(fr)
	}
	for _, children := range [][]*Node{n.cohorts, n.queues} {
		for _, c := range children {
			c.index = n.index
			c.settle()
		}
	}
}

// resum derives quota and usage of cohorts from the limits and the usage of queues.
func (n *Node) resum() {
	n.shared, n.lendable = false, nil
	for id := range n.slots {
		s := &n.slots[id]
		if l, set := n.limits[n.index.keys[id]]; set {
			s.Limits, s.defined, s.subtree = l, true, l.Nominal
		} else {
			s.Limits, s.defined, s.subtree = Limits{}, false, 0
		}
		if !n.Queue {
			s.usage = 0
		}
	}
	for fr, l := range n.limits {
		s := n.at(n.index.number(fr))
		s.Limits, s.defined, s.subtree = l, true, l.Nominal
	}
	for _, children := range [][]*Node{n.cohorts, n.queues} {
		for _, c := range children {
			c.resum()
			for id := range c.slots {
				from := &c.slots[id]
				s := n.at(id)
				if from.defined {
					s.defined, s.subtree = true, s.subtree.Add(from.subtree.Sub(from.guaranteed()))
				}
				s.usage = s.usage.Add(max(0, from.usage.Sub(from.guaranteed())))
			}
		}
	}
}

func (x *index) number(fr FlavorResource) int {
	id, ok := x.ids[fr]
	if !ok {
		id = len(x.keys)
		x.ids[fr], x.keys = id, append(x.keys, fr)
	}
	return id
}

// at is the slot for writing.
func (n *Node) at(id int) *slot {
	n.shared = false
	if id >= len(n.slots) {
		n.slots = append(n.slots, make([]slot, id+1-len(n.slots))...)
	}
	return &n.slots[id]
}

// get is the slot for reading.
func (n *Node) get(id int) slot {
	if id < 0 || id >= len(n.slots) {
		return slot{}
	}
	return n.slots[id]
}

// IDs numbers keys for the node's tree, for [Delta.Touches]. Those that nothing in it names are left out.
func (n *Node) IDs(keys []FlavorResource) []int {
	out := make([]int, 0, len(keys))
	for _, fr := range keys {
		if id := n.id(fr); id >= 0 {
			out = append(out, id)
		}
	}
	return out
}

func (n *Node) id(fr FlavorResource) int {
	if id, ok := n.index.ids[fr]; ok {
		return id
	}
	return -1
}

// guaranteed is what the node keeps for itself, out of its cohort's reach.
func (s slot) guaranteed() Amount {
	if s.LendingLimit == nil {
		return 0
	}
	return max(0, s.subtree.Sub(*s.LendingLimit))
}

// localAvailable is what is left of the guaranteed part.
func (s slot) localAvailable() Amount { return max(0, s.guaranteed().Sub(s.usage)) }

// Parent is the cohort above; nil at a root.
func (n *Node) Parent() *Node { return n.parent }

// Root is the topmost node.
func (n *Node) Root() *Node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// Ancestors walks from the parent to the root.
func (n *Node) Ancestors() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for a := n.parent; a != nil; a = a.parent {
			if !yield(a) {
				return
			}
		}
	}
}

// Cohorts are the cohorts directly below, by name.
func (n *Node) Cohorts() []*Node { return n.cohorts }

// Queues are the ClusterQueues directly below, by name.
func (n *Node) Queues() []*Node { return n.queues }

// AllQueues walks all ClusterQueues at or below the node: its own first, then those of its cohorts.
func (n *Node) AllQueues() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { n.walk(yield) }
}

func (n *Node) walk(yield func(*Node) bool) bool {
	if n.Queue {
		return yield(n)
	}
	for _, q := range n.queues {
		if !yield(q) {
			return false
		}
	}
	for _, c := range n.cohorts {
		if !c.walk(yield) {
			return false
		}
	}
	return true
}

// Keys lists the flavors and resources that the node, or one below it, has quota for.
func (n *Node) Keys() []FlavorResource {
	var out []FlavorResource
	for id := range n.slots {
		if n.slots[id].defined {
			out = append(out, n.index.keys[id])
		}
	}
	slices.SortFunc(out, FlavorResource.Compare)
	return out
}

// Limits is the node's own quota; zero when it sets none.
func (n *Node) Limits(fr FlavorResource) Limits { return n.limits[fr] }

// Sets tells that the node itself has a quota entry.
func (n *Node) Sets(fr FlavorResource) bool { _, ok := n.limits[fr]; return ok }

// SubtreeQuota is the node's own quota and what nodes below it lend to it.
func (n *Node) SubtreeQuota(fr FlavorResource) Amount { return n.get(n.id(fr)).subtree }

// Used is what counts against SubtreeQuota: for a queue all it has reserved, for a cohort what the nodes below it use
// beyond what they keep for themselves.
func (n *Node) Used(fr FlavorResource) Amount { return n.get(n.id(fr)).usage }

// Guaranteed is the part of SubtreeQuota that the node does not lend.
func (n *Node) Guaranteed(fr FlavorResource) Amount { return n.get(n.id(fr)).guaranteed() }

// LocalAvailable is what is unused of Guaranteed.
func (n *Node) LocalAvailable(fr FlavorResource) Amount { return n.get(n.id(fr)).localAvailable() }

// Available is what the node could take now without preempting anybody, borrowing included; never below zero.
func (n *Node) Available(fr FlavorResource) Amount { return max(0, n.available(n.id(fr))) }

func (n *Node) available(id int) Amount {
	s := n.get(id)
	if n.parent == nil {
		return s.subtree.Sub(s.usage)
	}
	above := n.parent.available(id)
	if s.BorrowingLimit != nil {
		kept := s.guaranteed()
		stored := s.subtree.Sub(kept)
		used := max(0, s.usage.Sub(kept))
		above = min(stored.Sub(used).Add(*s.BorrowingLimit), above)
	}
	return s.localAvailable().Add(above)
}

// PotentialAvailable is the most the node could ever take, were nothing used.
func (n *Node) PotentialAvailable(fr FlavorResource) Amount { return n.potential(n.id(fr)) }

func (n *Node) potential(id int) Amount {
	s := n.get(id)
	if n.parent == nil {
		return s.subtree
	}
	most := s.guaranteed().Add(n.parent.potential(id))
	if s.BorrowingLimit != nil {
		most = min(s.subtree.Add(*s.BorrowingLimit), most)
	}
	return most
}

// BorrowingWith tells that the node would use more than it owns with the amount added: a queue more than its nominal
// quota, a cohort more than its SubtreeQuota.
func (n *Node) BorrowingWith(fr FlavorResource, add Amount) bool {
	s := n.get(n.id(fr))
	own := s.subtree
	if n.Queue {
		own = s.Nominal
	}
	return own < s.usage.Add(add)
}

// Borrowing tells that the node uses more than it owns.
func (n *Node) Borrowing(fr FlavorResource) bool { return n.BorrowingWith(fr, 0) }

// Borrowed is what the node uses beyond SubtreeQuota, 0 at a root.
func (n *Node) Borrowed(fr FlavorResource) Amount {
	s := n.get(n.id(fr))
	if n.parent == nil {
		return 0
	}
	return max(0, s.usage.Sub(s.subtree))
}

// WithinQuota tells that the node uses no more than SubtreeQuota of any of the keys.
func (n *Node) WithinQuota(keys []FlavorResource) bool {
	for _, fr := range keys {
		if s := n.get(n.id(fr)); s.subtree < s.usage {
			return false
		}
	}
	return true
}

// Fits tells whether the requests fit into SubtreeQuota beside what is used, and what of them would remain for the
// parent to serve.
func (n *Node) Fits(requests Usage) (fits bool, remaining Usage) {
	fits, remaining = true, make(Usage, len(requests))
	for fr, v := range requests {
		s := n.get(n.id(fr))
		if s.subtree < s.usage.Add(v) {
			fits = false
		}
		remaining[fr] = max(0, v.Sub(s.localAvailable()))
	}
	return fits, remaining
}

// BorrowingHeight is the height of the lowest subtree around a queue that could take the amount: 0 when the queue's
// own nominal quota does. When none does it is the height of the whole tree. Smaller tells that the subtree is a
// proper part of the tree, so quota may be reclaimed from the rest.
func (n *Node) BorrowingHeight(fr FlavorResource, v Amount) (height int, smaller bool) {
	if !n.BorrowingWith(fr, v) || n.parent == nil {
		return 0, n.parent != nil
	}
	rest := v.Sub(n.LocalAvailable(fr))
	for a := range n.Ancestors() {
		if !a.BorrowingWith(fr, rest) {
			return a.height, a.parent != nil
		}
		rest = rest.Sub(a.LocalAvailable(fr))
	}
	return n.Root().height, false
}

// Resources lists the resources of Keys, each once, in order.
func (n *Node) Resources() []corev1.ResourceName {
	seen := map[corev1.ResourceName]bool{}
	for _, fr := range n.Keys() {
		seen[fr.Resource] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
