// Cohorts with equal shares, workloads alike in priority and time.

package admission

import (
	"cmp"
	"fmt"
	"slices"
)

// alikeCohorts are two cohorts with the same share, of which fair sharing preempts from one first.
type alikeCohorts [2]string

// tie is an attempt that chance may decide otherwise, because fair sharing finds cohorts alike.
type tie struct {
	alike alikeCohorts
	// one and other are the victims in either case; empty where it waits, or needs none.
	one, other []*item
	// assignment and targets of the other case.
	assignment *assignment
	targets    []target
}

// attemptEitherWay is an attempt that tells whether chance may decide it otherwise.
func (s *scheduler) attemptEitherWay(it *item) (*assignment, []target, *tie) {
	s.alike = nil
	a, ts := s.attempt(it, nil)
	if s.alike == nil {
		return a, ts, nil
	}
	alike := *s.alike
	s.firstOfAlike = true
	b, us := s.attempt(it, nil)
	s.firstOfAlike = false
	t := &tie{alike, victimsOf(ts), victimsOf(us), b, us}
	if a.mode() == b.mode() && flavorsUsed(a.podSets()) == flavorsUsed(b.podSets()) && slices.Equal(t.one, t.other) {
		return a, ts, nil
	}
	return a, ts, t
}

// victimsOf are the workloads, by name.
func victimsOf(ts []target) []*item {
	out := make([]*item, len(ts))
	for i, t := range ts {
		out[i] = t.item
	}
	slices.SortFunc(out, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
	return out
}

// cause says what is left to chance.
func (t *tie) cause() string {
	a, b := t.alike[0], t.alike[1]
	return fmt.Sprintf("cohorts %s and %s have the same share, and chance decides from which of them Kueue preempts first", min(a, b), max(a, b))
}

// outcomes says what it comes to, one way or the other.
func (t *tie) outcomes() string {
	switch {
	case slices.Equal(t.one, t.other):
		return "its flavors depend on that"
	case len(t.one) == 0:
		return "it waits, or preempts " + listed(t.other)
	case len(t.other) == 0:
		return "it preempts " + listed(t.one) + ", or waits"
	}
	return "it preempts " + listed(t.one) + ", or " + listed(t.other)
}

// qualify says of a decision what it may be instead.
func (s *scheduler) qualify(it *item, d *Decision, t *tie) *Decision {
	if t == nil {
		return d
	}
	other := s.decision(&nominee{it: it, assignment: t.assignment, targets: t.targets}, t.assignment.messages())
	why := t.cause() + ": " + t.outcomes()
	waits := func(d *Decision) bool { return d.State == Pending || d.State == Preempts }
	if !waits(d) || !waits(other) || slices.Equal(t.one, t.other) {
		return &Decision{State: Unknown, Attempts: d.Attempts, Why: why}
	}
	if d.State != other.State { // it waits for now in either case
		if d.State == Preempts {
			d, other = other, d
		}
		d.Possible = distinct(slices.Concat([]string{d.Message, other.Message}, d.Possible, other.Possible), nil)
		slices.Sort(d.Possible)
	}
	d.Why = why
	return d
}

// suppose notes where chance may have decided otherwise than the run goes on.
func (r *run) suppose(n *nominee) {
	if n.tie != nil {
		r.noteTie(n.it.key + ": " + n.tie.cause() + ": " + n.tie.outcomes() + "; here the first is supposed")
	}
	switch {
	case !n.resumed:
		n.it.turning = false
	case n.it.turning && n.wins():
		n.it.turning = false
		r.noteTie(n.it.key + " was tried again and again by turns, from one flavor and then from another; at which of them a change meets it is a matter of milliseconds, and here it is as if changes came when the turns repeat themselves")
	}
	if n.rival == nil || !n.skipped && n.assignment.forced == nil || n.it.order.IsZero() {
		return
	}
	for o := n.rival; o != nil; o = o.rival {
		if o.wins() && o.it.queue.node.Root() == n.it.queue.node.Root() {
			r.noteTie(fmt.Sprintf("%s and %s are alike in priority and time, and chance decides which of them Kueue takes first; here it is %s", o.it.key, n.it.key, o.it.key))
			return
		}
	}
}

// wins tells that the nominee got what it was assigned, or will once its victims are gone.
func (n *nominee) wins() bool { return n.done || n.why == pendingPreemption && len(n.targets) > 0 }

func (r *run) noteTie(text string) {
	if !r.tieNoted[text] {
		r.tieNoted[text] = true
		r.ties = append(r.ties, text)
	}
}

// mostTies are told; what comes after them hangs on them anyway.
const mostTies = 3

// assumedTies are the sentences to show.
func (r *run) assumedTies() []string {
	if len(r.ties) <= mostTies {
		return r.ties
	}
	return append(slices.Clone(r.ties[:mostTies]), fmt.Sprintf("%d more decisions hang on chance", len(r.ties)-mostTies))
}
