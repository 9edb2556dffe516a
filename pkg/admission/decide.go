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
	wl := e.byOf[c]
	if wl == nil {
		return &Decision{State: Unknown, Why: "the workload is not one of those looked at"}
	}
	like, shared := e.Likeness(c)
	if !shared {
		return s.decide(wl)
	}
	d := e.decided[like]
	if d == nil {
		d = s.decide(wl)
		e.decided[like] = d
	}
	return d
}

// decidedByQuota reports whether all that matters for the workload is the quota and who has it.
func (wl *schedulerWorkload) decidedByQuota() bool {
	return wl.state == Pending && wl.held == nil && wl.refused == nil && wl.unknown == nil && len(wl.invalid) == 0 &&
		wl.queue != nil
}

// now is the present state, built once.
func (e *Engine) now() *scheduler {
	if e.present == nil {
		e.present, e.byOf = e.state(false)
	}
	return e.present
}

func (s *scheduler) decide(wl *schedulerWorkload) *Decision {
	switch {
	case wl.state == None, wl.state == Finished, wl.state == Deactivated:
		return &Decision{State: wl.state, Reason: wl.reason, Message: wl.message}
	case wl.held != nil:
		return wl.holdingDecision()
	case wl.state != Pending:
		return &Decision{
			State:   Unknown,
			Why:     "it holds quota in a ClusterQueue that is not in the input",
			Reason:  wl.reason,
			Message: wl.message,
		}
	case wl.refused != nil:
		return wl.refused
	case wl.unknown != nil:
		if d := s.whateverIsUsed(wl); d != nil {
			return d
		}
		return wl.unknown
	case len(wl.invalid) > 0:
		return s.invalidDecision(wl)
	}
	return s.decideByUsage(wl)
}

// invalidDecision is the decision about a workload whose requests are wrong.
func (s *scheduler) invalidDecision(wl *schedulerWorkload) *Decision {
	d := &Decision{State: Pending, Reason: s.granular(reasonMisconfigured, reasonPending)}
	d.say(wl.invalid, "")
	return d
}

// holdingDecision is the decision for a workload that has its quota.
func (wl *schedulerWorkload) holdingDecision() *Decision {
	return &Decision{
		State:   wl.state,
		Reason:  wl.reason,
		Message: wl.message,
		PodSets: wl.held.podSets,
		Borrows: wl.borrows(),
	}
}

// borrows reports whether the queue uses more than its nominal quota of something the workload holds.
func (wl *schedulerWorkload) borrows() bool {
	for fr := range wl.held.usage {
		if wl.held.queue.node.Borrowing(fr) {
			return true
		}
	}
	return false
}

// tryFlavors attempts as often as the scheduler does at once: as long as pod sets stopped at flavors that left others
// untried.
func (s *scheduler) tryFlavors(wl *schedulerWorkload) *Decision {
	saved := wl.position
	defer func() { wl.position = saved }()
	wl.position = nil
	var trail []string
	var tie *equalShares
	for range wl.attempts() {
		resumed := wl.position != nil
		a, ts, t := s.attemptBothWays(wl)
		if tie == nil {
			tie = t
		}
		n := &entry{workload: wl, assignment: a, targets: ts, messages: a.messages(), resumed: resumed}
		if !s.behavior.PreserveScanProgress {
			trail = n.withEarlierTexts(trail, n.messages, false)
		} else {
			trail = n.messages
		}
		if a.mode() == Fit || a.mode() == NeedsPreemption && len(ts) > 0 || !a.last.pending() {
			return s.qualify(wl, s.decision(n, trail), tie)
		}
		wl.position = a.last
	}
	return &Decision{State: Unknown, Why: "its pod sets take flavors in turns without end"}
}

// attempts bounds the scans of flavors: each starts further on than the one before.
func (wl *schedulerWorkload) attempts() int {
	n := 1
	for _, g := range wl.queue.groups {
		n += len(g.flavors)
	}
	return n * max(1, len(wl.sets))
}

func (s *scheduler) decision(n *entry, messages []string) *Decision {
	a, wl := n.assignment, n.workload
	d := &Decision{State: Pending, Reason: reasonPending, Borrows: a.borrow > 0}
	for i := range a.sets {
		d.Attempts = append(d.Attempts, a.sets[i].attempts...)
	}
	fits := a.mode() == Fit
	switch {
	case a.cut(wl) && (fits || a.crashes(wl)):
		return &Decision{State: Unknown, Attempts: d.Attempts, Why: a.whyCut(wl)}
	case a.undecided != "" && (fits || len(n.targets) > 0):
		return &Decision{State: Unknown, Attempts: d.Attempts, Why: "quota would allow it, but " + a.undecided}
	case fits && s.blockAdmission && s.anyNotReady():
		d.Reason, d.Message = s.granular(reasonWaitingForPods,
			reasonWaiting), message.Of(message.WaitingForPodsReady).Text()
		d.Why = "waitForPodsReady.blockAdmission lets one workload start at a time, and an admitted one is not ready"
	case fits:
		d.PodSets = a.podSets()
		d.State, d.Reason, d.Message = wl.queue.stateOf(
			d.PodSets,
		), reasonQuotaReserved, "Quota reserved in ClusterQueue "+wl.queue.name
	case len(n.targets) > 0:
		d.State, d.PodSets = Preempts, a.podSets()
		d.Reason = s.granular(reasonWaitingForVictims, reasonPending)
		d.say(messages, message.Of(message.PendingPreemption, strconv.Itoa(len(n.targets))).Text())
		if why := s.undecided(victims, wl, victimsOf(n.targets)); why != "" {
			return &Decision{
				State:    Unknown,
				Attempts: d.Attempts,
				Why:      "it needs preemption, and whom it preempts is not known: " + why,
			}
		}
		for _, t := range n.targets {
			d.Targets = append(
				d.Targets,
				Target{Charge: t.workload.charge, ClusterQueue: t.workload.held.queue.name, Reason: t.reason},
			)
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
