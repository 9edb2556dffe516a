// What the next attempt would decide about one workload. Mirrors nominate and requeueAndUpdate of
// pkg/scheduler/scheduler.go.

package admission

import (
	"slices"
	"strconv"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// Decide says what the next scheduling attempt of a workload would decide, given the quota reserved now. Who else
// waits in the queue does not matter to it. The charge must be one of those the engine was made with. The decision is
// shared by workloads that are alike and must not be changed.
func (e *Engine) Decide(c *charge.Charge) *Decision {
	s := e.now()
	it := e.byOf[c]
	if it == nil {
		return &Decision{State: Unknown, Why: "the workload is not one of those looked at"}
	}
	like, shared := e.Likeness(c)
	if !shared {
		return s.decide(it)
	}
	d := e.decided[like]
	if d == nil {
		d = s.decide(it)
		e.decided[like] = d
	}
	return d
}

// decidedByQuota tells that all that matters for the workload is the quota and who has it.
func (it *item) decidedByQuota() bool {
	return it.state == Pending && it.held == nil && it.refused == nil && it.unknown == nil && len(it.invalid) == 0 && it.queue != nil
}

// now is the present state, built once.
func (e *Engine) now() *scheduler {
	if e.present == nil {
		e.present, e.byOf = e.state(false)
	}
	return e.present
}

func (s *scheduler) decide(it *item) *Decision {
	switch {
	case it.state == None, it.state == Finished, it.state == Deactivated:
		return &Decision{State: it.state, Reason: it.reason, Message: it.message}
	case it.held != nil:
		return it.holding()
	case it.state != Pending:
		return &Decision{State: Unknown, Why: "it holds quota in a ClusterQueue that is not in the input", Reason: it.reason, Message: it.message}
	case it.refused != nil:
		return it.refused
	case it.unknown != nil:
		if d := s.whateverIsUsed(it); d != nil {
			return d
		}
		return it.unknown
	case len(it.invalid) > 0:
		return s.turnedDown(it)
	}
	return s.doubtful(it)
}

// turnedDown is the decision about a workload whose requests are wrong.
func (s *scheduler) turnedDown(it *item) *Decision {
	d := &Decision{State: Pending, Reason: s.granular(reasonMisconfigured, reasonPending)}
	d.say(it.invalid, "")
	return d
}

// holding is the decision for a workload that has its quota.
func (it *item) holding() *Decision {
	return &Decision{State: it.state, Reason: it.reason, Message: it.message, PodSets: it.held.podSets, Borrows: it.borrows()}
}

// borrows tells that the queue uses more than its nominal quota of something the workload holds.
func (it *item) borrows() bool {
	for fr := range it.held.usage {
		if it.held.queue.node.Borrowing(fr) {
			return true
		}
	}
	return false
}

// tryFlavors attempts as often as the scheduler does at once: as long as pod sets stopped at flavors that left others
// untried.
func (s *scheduler) tryFlavors(it *item) *Decision {
	saved := it.last
	defer func() { it.last = saved }()
	it.last = nil
	var trail []string
	var tie *tie
	for range it.attempts() {
		resumed := it.last != nil
		a, ts, t := s.attemptEitherWay(it)
		if tie == nil {
			tie = t
		}
		n := &nominee{it: it, assignment: a, targets: ts, messages: a.messages(), resumed: resumed}
		if !s.behavior.PreserveScanProgress {
			trail = n.follow(trail, n.messages, false)
		} else {
			trail = n.messages
		}
		if a.mode() == Fit || a.mode() == NeedsPreemption && len(ts) > 0 || !a.last.pending() {
			return s.qualify(it, s.decision(n, trail), tie)
		}
		it.last = a.last
	}
	return &Decision{State: Unknown, Why: "its pod sets take flavors in turns without end"}
}

// attempts bounds the scans of flavors: each starts further on than the one before.
func (it *item) attempts() int {
	n := 1
	for _, g := range it.queue.groups {
		n += len(g.flavors)
	}
	return n * max(1, len(it.sets))
}

func (s *scheduler) decision(n *nominee, messages []string) *Decision {
	a, it := n.assignment, n.it
	d := &Decision{State: Pending, Reason: reasonPending, Borrows: a.borrow > 0}
	for i := range a.sets {
		d.Attempts = append(d.Attempts, a.sets[i].attempts...)
	}
	fits := a.mode() == Fit
	switch {
	case a.cut(it) && (fits || a.crashes(it)):
		return &Decision{State: Unknown, Attempts: d.Attempts, Why: a.whyCut(it)}
	case a.undecided != "" && (fits || len(n.targets) > 0):
		return &Decision{State: Unknown, Attempts: d.Attempts, Why: "quota would allow it, but " + a.undecided}
	case fits && s.blockAdmission && s.anyNotReady():
		d.Reason, d.Message = s.granular(reasonWaitingForPods, reasonWaiting), message.Of(message.WaitingForPodsReady).Text()
		d.Why = "waitForPodsReady.blockAdmission lets one workload start at a time, and an admitted one is not ready"
	case fits:
		d.PodSets = a.podSets()
		d.State, d.Reason, d.Message = it.queue.stateOf(d.PodSets), reasonQuotaReserved, "Quota reserved in ClusterQueue "+it.queue.name
	case len(n.targets) > 0:
		d.State, d.PodSets = Preempts, a.podSets()
		d.Reason = s.granular(reasonWaitingForVictims, reasonPending)
		d.say(messages, message.Of(message.PendingPreemption, strconv.Itoa(len(n.targets))).Text())
		if why := s.undecided(victims, it, victimsOf(n.targets)); why != "" {
			return &Decision{State: Unknown, Attempts: d.Attempts, Why: "it needs preemption, and whom it preempts is not known: " + why}
		}
		for _, t := range n.targets {
			d.Targets = append(d.Targets, Target{Charge: t.item.charge, ClusterQueue: t.item.held.queue.name, Reason: t.reason})
		}
	default:
		fine := reasonWaitingForQuota
		if a.mode() == NoFit {
			fine = a.noFitReason(s.behavior.ResourceOrder == release.GoMap)
		}
		d.Reason = s.granular(fine, reasonPending)
		d.say(messages, "")
	}
	return d
}

// say sets the message, and all it may be.
func (d *Decision) say(messages []string, suffix string) {
	d.Message = messages[0] + suffix
	if len(messages) > 1 {
		for _, m := range messages {
			d.Possible = append(d.Possible, m+suffix)
		}
	}
	slices.Sort(d.Possible)
}
