// Who goes first in it. Mirrors makeIterator, classicalIterator and fair_sharing_iterator.go of pkg/scheduler.

package admission

import (
	"cmp"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// entry is the head of a queue in one cycle, with what it was assigned.
type entry struct {
	workload   *schedulerWorkload
	assignment *assignment
	targets    []target
	preemptor  bool
	// resumed: the scan of flavors went on from an earlier attempt.
	resumed bool
	// skipped: something earlier in the cycle got in its way.
	skipped        bool
	assumed        bool // it got its quota
	requeueReason  requeueReason
	granularReason string
	// messages it leaves behind, the fullest first.
	messages []string
	suffix   string
	blocked  bool
	// scanStart is where the scan of flavors stood before the attempt.
	scanStart string

	// equalShares is what chance may make of the attempt; nil for nothing else.
	equalShares *equalShares
	// rival came before it in the cycle by chance alone; nil for none.
	rival *entry

	prepared *quota.Delta
}

// delta is its usage prepared for its tree.
func (n *entry) delta() quota.Delta {
	if n.prepared == nil {
		d := n.workload.queue.node.Delta(n.usage())
		n.prepared = &d
	}
	return *n.prepared
}

func (n *entry) usage() quota.Usage { return n.assignment.usage }

// sequence yields the entries in the order in which the cycle takes them.
type sequence interface{ next() *entry }

func (s *scheduler) sequence(ns []*entry) sequence {
	if s.fair {
		return s.fairSharingOrder(ns)
	}
	return &classicalOrder{left: s.classicalOrder(ns)}
}

type classicalOrder struct{ left []*entry }

func (c *classicalOrder) next() *entry {
	if len(c.left) == 0 {
		return nil
	}
	head := c.left[0]
	c.left = c.left[1:]
	return head
}

// classicalOrder: those that borrow less, the higher priority, the earlier.
func (s *scheduler) classicalOrder(ns []*entry) []*entry {
	order := func(a, b *entry) int {
		return cmp.Or(s.preemptorFirst(a, b), cmp.Compare(a.assignment.borrow, b.assignment.borrow), s.elder(a, b))
	}
	slices.SortStableFunc(ns, order)
	for i := 1; i < len(ns); i++ {
		if order(ns[i-1], ns[i]) == 0 {
			ns[i].rival = ns[i-1]
		}
	}
	return ns
}

func (s *scheduler) preemptorFirst(a, b *entry) int {
	if !s.behavior.PreemptorsFirst {
		return 0
	}
	return trueFirst(a.preemptor, b.preemptor)
}

func (s *scheduler) elder(a, b *entry) int {
	if s.gate(release.PrioritySortingWithinCohort) && a.workload.priority != b.workload.priority {
		return cmp.Compare(b.workload.priority, a.workload.priority)
	}
	return compareTimes(a.workload.order, b.workload.order)
}

// fairSharingOrder is the order of fair sharing: in every cohort the children's entries compete, the one whose share
// would be smallest wins, and the winner competes one level up.
type fairSharingOrder struct {
	s    *scheduler
	left map[*quota.Node]*entry
	// waiting queues by name.
	waiting []*quota.Node
	// shares with the entry's workload added, by the cohort it competes in.
	shares map[competitor]competingShare
}

type competitor struct {
	cohort *quota.Node
	entry  *entry
}

// competingShare is the share of a child of the cohort, and whether that borrows what the entry asks for.
type competingShare struct {
	quota.Share
	borrows bool
}

func (s *scheduler) fairSharingOrder(ns []*entry) *fairSharingOrder {
	t := &fairSharingOrder{s: s, left: make(map[*quota.Node]*entry, len(ns))}
	for _, n := range ns {
		t.left[n.workload.queue.node] = n
		t.waiting = append(t.waiting, n.workload.queue.node)
	}
	slices.SortFunc(t.waiting, func(a, b *quota.Node) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

func (t *fairSharingOrder) next() *entry {
	for len(t.waiting) > 0 && t.left[t.waiting[0]] == nil {
		t.waiting = t.waiting[1:]
	}
	if len(t.waiting) == 0 {
		return nil
	}
	first := t.waiting[0]
	winner := t.left[first]
	if first.Parent() != nil {
		root := first.Root()
		t.computeShares(root)
		winner = t.winnerOf(root)
	}
	delete(t.left, winner.workload.queue.node)
	return winner
}

func (t *fairSharingOrder) computeShares(root *quota.Node) {
	t.shares = map[competitor]competingShare{}
	for node := range root.AllQueues() {
		n := t.left[node]
		if n == nil {
			continue
		}
		d := n.delta()
		node.Add(d)
		child := node
		for a := range node.Ancestors() {
			t.shares[competitor{a, n}] = competingShare{child.Share(), child.BorrowsAny(d)}
			child = a
		}
		node.Remove(d)
	}
}

func (t *fairSharingOrder) winnerOf(cohort *quota.Node) *entry {
	var best *entry
	try := func(n *entry) {
		switch {
		case n == nil:
		case best == nil:
			best = n
		default:
			switch order := t.order(n, best, cohort); {
			case order < 0:
				best = n
			case order == 0:
				n.rival = best
			}
		}
	}
	for _, c := range cohort.Cohorts() {
		try(t.winnerOf(c))
	}
	for _, q := range cohort.Queues() {
		try(t.left[q])
	}
	return best
}

func (t *fairSharingOrder) order(a, b *entry, cohort *quota.Node) int {
	x, y := t.shares[competitor{cohort, a}], t.shares[competitor{cohort, b}]
	borrow := 0
	if t.s.gate(release.FairSharingPrioritizeNonBorrowing) {
		borrow = trueFirst(!x.borrows, !y.borrows)
	}
	return cmp.Or(t.s.preemptorFirst(a, b), borrow, x.Compare(y.Share), t.s.elder(a, b))
}
