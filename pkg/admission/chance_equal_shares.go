// Cohorts with equal shares.

package admission

import (
	"cmp"
	"fmt"
	"slices"
)

// cohortPair are two cohorts with the same share, of which fair sharing preempts from one first.
type cohortPair [2]string

// equalShares is an attempt that chance may decide otherwise, because fair sharing finds cohorts alike.
type equalShares struct {
	cohorts cohortPair
	// one and other are the victims in either case; empty where it waits, or needs none.
	one, other []*schedulerWorkload
	// assignment and targets of the other case.
	assignment *assignment
	targets    []target
}

// attemptBothWays is an attempt, and whether chance may decide it otherwise.
func (s *scheduler) attemptBothWays(wl *schedulerWorkload) (*assignment, []target, *equalShares) {
	s.preemption.equalCohorts = nil
	a, ts := s.attempt(wl, nil)
	if s.preemption.equalCohorts == nil {
		return a, ts, nil
	}
	alike := *s.preemption.equalCohorts
	s.preemption.takeFirstOfEqual = true
	b, us := s.attempt(wl, nil)
	s.preemption.takeFirstOfEqual = false
	t := &equalShares{alike, victimsOf(ts), victimsOf(us), b, us}
	if a.mode() == b.mode() && flavorsUsed(a.podSets()) == flavorsUsed(b.podSets()) && slices.Equal(t.one, t.other) {
		return a, ts, nil
	}
	return a, ts, t
}

// victimsOf are the workloads, by name.
func victimsOf(ts []target) []*schedulerWorkload {
	out := make([]*schedulerWorkload, len(ts))
	for i, t := range ts {
		out[i] = t.workload
	}
	slices.SortFunc(out, func(a, b *schedulerWorkload) int { return cmp.Compare(a.key, b.key) })
	return out
}

// cause says what is left to chance.
func (t *equalShares) cause() string {
	a, b := t.cohorts[0], t.cohorts[1]
	return fmt.Sprintf(
		"cohorts %s and %s have the same share, and chance decides from which of them Kueue preempts first",
		min(a, b),
		max(a, b),
	)
}

// outcomes says what it comes to, one way or the other.
func (t *equalShares) outcomes() string {
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
func (s *scheduler) qualify(wl *schedulerWorkload, d *Decision, t *equalShares) *Decision {
	if t == nil {
		return d
	}
	other := s.decision(&entry{workload: wl, assignment: t.assignment, targets: t.targets}, t.assignment.messages())
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
