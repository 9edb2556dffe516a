// Who goes first in it. Mirrors makeIterator, entryOrdering and fair_sharing_iterator.go of pkg/scheduler.

package admission

import (
	"cmp"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// nominee is the head of a queue in one cycle, with what it was assigned.
type nominee struct {
	it         *item
	assignment *assignment
	targets    []target
	preemptor  bool
	// resumed: the scan of flavors went on from an earlier attempt.
	resumed bool
	// skipped: something earlier in the cycle got in its way.
	skipped bool
	done    bool // it got its quota
	why     requeueReason
	fine    string // granular reason
	// messages it leaves behind, the fullest first.
	messages []string
	suffix   string
	blocked  bool
	// from is where the scan of flavors stood before the attempt.
	from string

	// tie is what chance may make of the attempt; nil for nothing else.
	tie *tie
	// rival came before it in the cycle by chance alone; nil for none.
	rival *nominee

	prepared *quota.Delta
}

// delta is its usage prepared for its tree.
func (n *nominee) delta() quota.Delta {
	if n.prepared == nil {
		d := n.it.queue.node.Delta(n.usage())
		n.prepared = &d
	}
	return *n.prepared
}

func (n *nominee) usage() quota.Usage { return n.assignment.usage }

// sequence yields the nominees in the order in which the cycle takes them.
type sequence interface{ next() *nominee }

func (s *scheduler) sequence(ns []*nominee) sequence {
	if s.fair {
		return s.tournament(ns)
	}
	return &classicalOrder{left: s.classicalOrder(ns)}
}

type classicalOrder struct{ left []*nominee }

func (c *classicalOrder) next() *nominee {
	if len(c.left) == 0 {
		return nil
	}
	head := c.left[0]
	c.left = c.left[1:]
	return head
}

// classicalOrder: those that borrow less, the higher priority, the earlier.
func (s *scheduler) classicalOrder(ns []*nominee) []*nominee {
	order := func(a, b *nominee) int {
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

func (s *scheduler) preemptorFirst(a, b *nominee) int {
	if !s.behavior.PreemptorsFirst {
		return 0
	}
	return trueFirst(a.preemptor, b.preemptor)
}

func (s *scheduler) elder(a, b *nominee) int {
	if s.gate(release.PrioritySortingWithinCohort) && a.it.priority != b.it.priority {
		return cmp.Compare(b.it.priority, a.it.priority)
	}
	return compareTimes(a.it.order, b.it.order)
}

// tournament is the order of fair sharing: in every cohort the children's nominees compete, the one whose share would
// be smallest wins, and the winner competes one level up.
type tournament struct {
	s    *scheduler
	left map[*quota.Node]*nominee
	// waiting queues by name.
	waiting []*quota.Node
	// shares with the nominee's workload added, by the cohort it competes in.
	shares map[contest]stake
}

type contest struct {
	cohort *quota.Node
	n      *nominee
}

// stake is the share of a child of the cohort, and whether that borrows what the nominee asks for.
type stake struct {
	quota.Share
	borrows bool
}

func (s *scheduler) tournament(ns []*nominee) *tournament {
	t := &tournament{s: s, left: make(map[*quota.Node]*nominee, len(ns))}
	for _, n := range ns {
		t.left[n.it.queue.node] = n
		t.waiting = append(t.waiting, n.it.queue.node)
	}
	slices.SortFunc(t.waiting, func(a, b *quota.Node) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

func (t *tournament) next() *nominee {
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
		t.weigh(root)
		winner = t.play(root)
	}
	delete(t.left, winner.it.queue.node)
	return winner
}

func (t *tournament) weigh(root *quota.Node) {
	t.shares = map[contest]stake{}
	for node := range root.AllQueues() {
		n := t.left[node]
		if n == nil {
			continue
		}
		d := n.delta()
		node.Add(d)
		child := node
		for a := range node.Ancestors() {
			t.shares[contest{a, n}] = stake{child.Share(), child.BorrowsAny(d)}
			child = a
		}
		node.Remove(d)
	}
}

func (t *tournament) play(cohort *quota.Node) *nominee {
	var best *nominee
	try := func(n *nominee) {
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
		try(t.play(c))
	}
	for _, q := range cohort.Queues() {
		try(t.left[q])
	}
	return best
}

func (t *tournament) order(a, b *nominee, cohort *quota.Node) int {
	x, y := t.shares[contest{cohort, a}], t.shares[contest{cohort, b}]
	borrow := 0
	if t.s.gate(release.FairSharingPrioritizeNonBorrowing) {
		borrow = trueFirst(!x.borrows, !y.borrows)
	}
	return cmp.Or(t.s.preemptorFirst(a, b), borrow, x.Compare(y.Share), t.s.elder(a, b))
}
