// What becomes of those a cycle tried. Mirrors admit and requeueAndUpdate of pkg/scheduler/scheduler.go.

package admission

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// finish writes the cycle's outcome: quota for those that got it, conditions and places in the queue for the others.
func (r *run) finish(ns []*entry) {
	c := Cycle{Number: r.cycle, Time: r.arrived}
	for _, n := range ns {
		n.putLuckyMessageFirst()
		r.doubtVictims(n)
		r.noteChance(n)
		c.Steps = append(c.Steps, r.step(n))
	}
	for _, n := range ns {
		switch {
		case n.assumed:
			r.admit(n)
		case n.workload.namespaceMismatch:
			r.rejectNamespace(n.workload)
		case len(n.workload.invalid) > 0:
			r.rejectInvalid(n)
		case n.blocked:
			r.halted = true
			r.say(n, r.granular(n.granularReason, reasonWaiting))
			n.workload.queue.pending.push(n.workload)
		default:
			r.requeue(n)
		}
	}
	r.timeline = append(r.timeline, c)
}

func (r *run) step(n *entry) Step {
	st := Step{
		Workload:     n.workload.key,
		Charge:       n.workload.charge,
		ClusterQueue: n.workload.queue.name,
		Detail:       n.message(),
	}
	switch {
	case n.assumed:
		st.Decision, st.Detail = Admit, flavorsUsed(n.assignment.podSets())
	case n.requeueReason == pendingPreemption && len(n.targets) > 0:
		names := make([]string, len(n.targets))
		for i, t := range n.targets {
			names[i] = t.workload.key + " (" + t.reason + ")"
			st.Targets = append(
				st.Targets,
				Target{Charge: t.workload.charge, ClusterQueue: t.workload.held.queue.name, Reason: t.reason},
			)
		}
		st.Decision, st.Detail = Preempt, strings.Join(names, ", ")
	case n.skipped, n.blocked, n.requeueReason == pendingPreemption:
		st.Decision = Skip
	default:
		st.Decision = Refuse
	}
	return st
}

func (n *entry) message() string { return n.messages[0] + n.suffix }

// admit reserves quota.
func (r *run) admit(n *entry) {
	wl := n.workload
	wl.queue.pending.forget(wl)
	sets := n.assignment.podSets()
	wl.reserve(&reservation{queue: wl.queue, podSets: sets, usage: n.usage(), since: r.clock.Truncate(time.Second)})
	wl.queue.generation++
	r.counted(wl.queue)
	wl.evicted, wl.position, wl.cycle, wl.history.evictedTogether = false, nil, r.cycle, false
	wl.notReady = true
	if n.assignment.cut(wl) {
		wl.doubt = n.assignment.whyCut(wl)
	}
	if n.assignment.undecided != "" {
		wl.doubt = "quota allows it, but " + n.assignment.undecided
	}
	wl.state = wl.queue.stateOf(sets)
	wl.admitted = wl.state == Admitted
	if wl.local != nil {
		wl.queue.ledger.enter(wl)
		wl.queue.pending.reorder()
	}
	wl.reason, wl.message, wl.possible = reasonQuotaReserved, "Quota reserved in ClusterQueue "+wl.queue.name, nil
	r.epoch++
}

// requeue puts an entry back: to be tried at once, or aside until something changes in the cohort.
func (r *run) requeue(n *entry) {
	wl := n.workload
	l := &wl.queue.pending
	r.say(n, r.granular(n.granularReason, reasonPending))
	if n.skipped && n.requeueReason == generic {
		n.requeueReason = failedAfterNomination
	}
	if n.requeueReason == pendingPreemption {
		l.preemptor = wl
		if !wl.queue.strict {
			l.setSticky(wl)
		}
		for _, t := range n.targets {
			r.evictions = append(r.evictions, eviction{victim: t.workload, message: preemptionMessage(wl, t)})
		}
	}
	again := wl.queue.strict || n.requeueReason == failedAfterNomination || n.requeueReason == pendingPreemption
	if again || l.inadmissibleCycle >= l.popCycle || wl.position.pending() {
		l.push(wl)
		r.losePosition(wl)
		return
	}
	l.setAside(wl)
	wl.luckyEnd.attempts = 0
	r.epoch++
	if wl.schedulingHash() != "" && (n.requeueReason == didNotFit || n.requeueReason == nobodyToPreempt) &&
		!wl.queue.strict {
		for _, moved := range l.handleInadmissibleHash(wl.schedulingHash(), wl.reason) {
			r.markBypassed(moved, wl.reason)
		}
		r.markSelfBypassed(n)
	}
}

// eviction is a victim and what its condition will say.
type eviction struct {
	victim  *schedulerWorkload
	message string
	// atOnce: the reservation is taken back without waiting for a job to stop, as that of a workload that never
	// started.
	atOnce bool
}

// rejectInvalid is for a workload whose requests are wrong: it has been tried, but a strict queue waits for it all the
// same.
func (r *run) rejectInvalid(n *entry) {
	r.say(n, r.granular(reasonMisconfigured, reasonPending))
	if n.workload.queue.strict {
		n.workload.queue.pending.push(n.workload)
		return
	}
	n.workload.queue.pending.setAside(n.workload)
	r.epoch++
}

// waitsInactive reports whether all that keeps the workload from being tried is that its ClusterQueue is not active.
func (wl *schedulerWorkload) waitsInactive() bool {
	return wl.state != Deactivated && wl.blocked != nil && wl.queue.inactive != "" &&
		wl.message == wl.blocked.Message &&
		wl.blocked.Queue == message.ClusterQueueInactive
}

// rejectNamespace is for a workload whose namespace its queue does not take: it waits aside even in a strict queue.
func (r *run) rejectNamespace(wl *schedulerWorkload) {
	d, l := wl.blocked, &wl.queue.pending
	wl.take(d)
	if l.inadmissibleCycle >= l.popCycle {
		l.push(wl)
		return
	}
	l.setAside(wl)
	r.epoch++
}

// evict lets the jobs of victims stop: their quota comes back, they queue again, and what is set aside in the cohort
// will be tried again. A Workload without a job to stop it keeps its quota.
func (r *run) evict() {
	marked := r.evictions
	r.evictions = nil
	slices.SortFunc(marked, func(a, b eviction) int { return cmp.Compare(a.victim.seq, b.victim.seq) })
	for _, v := range marked {
		wl := v.victim
		if wl.held == nil || wl.evicted && !wl.owned {
			continue
		}
		r.epoch++
		wl.evicted = true
		wl.held.queue.tree.version++
		wl.state = Evicted
		if !wl.owned && !v.atOnce {
			continue
		}
		from := wl.held.queue
		if wl.held.penalty != nil && !wl.admitted {
			from.ledger.leave(wl, wl.held)
			from.pending.reorder()
		}
		wl.release()
		from.generation++
		wl.state, wl.reason, wl.message = Pending, reasonPending, v.message
		wl.possible, wl.cycle, wl.history.evictedTogether = nil, 0, len(marked) > 1
		if !wl.queueStopped {
			r.retries[from.node.Root()] = true
		}
		r.countEviction(wl, from.node.Root())
		r.counted(from)
		switch {
		case wl.unknown != nil:
			wl.state = Unknown
		case wl.refused != nil && !wl.namespaceMismatch:
			wl.take(wl.refused)
		case wl.queue != nil:
			r.enqueue(wl)
		}
	}
}
