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
func (r *run) finish(ns []*nominee) {
	c := Cycle{Number: r.cycle, Time: r.arrived}
	for _, n := range ns {
		n.byChance()
		r.doubtVictims(n)
		r.suppose(n)
		c.Steps = append(c.Steps, r.step(n))
	}
	for _, n := range ns {
		switch {
		case n.done:
			r.admit(n)
		case n.it.turnedAway:
			r.turnAway(n.it)
		case len(n.it.invalid) > 0:
			r.turnDown(n)
		case n.blocked:
			r.halted = true
			r.say(n, r.granular(n.fine, reasonWaiting))
			n.it.queue.line.push(n.it)
		default:
			r.requeue(n)
		}
	}
	r.timeline = append(r.timeline, c)
}

func (r *run) step(n *nominee) Step {
	st := Step{Workload: n.it.key, Charge: n.it.charge, ClusterQueue: n.it.queue.name, Detail: n.message()}
	switch {
	case n.done:
		st.Decision, st.Detail = Admit, flavorsUsed(n.assignment.podSets())
	case n.why == pendingPreemption && len(n.targets) > 0:
		names := make([]string, len(n.targets))
		for i, t := range n.targets {
			names[i] = t.item.key + " (" + t.reason + ")"
			st.Targets = append(st.Targets, Target{Charge: t.item.charge, ClusterQueue: t.item.held.queue.name, Reason: t.reason})
		}
		st.Decision, st.Detail = Preempt, strings.Join(names, ", ")
	case n.skipped, n.blocked, n.why == pendingPreemption:
		st.Decision = Skip
	default:
		st.Decision = Refuse
	}
	return st
}

func (n *nominee) message() string { return n.messages[0] + n.suffix }

// admit reserves quota.
func (r *run) admit(n *nominee) {
	it := n.it
	it.queue.line.forget(it)
	sets := n.assignment.podSets()
	it.reserve(&reservation{queue: it.queue, podSets: sets, usage: n.usage(), since: r.clock.Truncate(time.Second)})
	it.queue.generation++
	r.counted(it.queue)
	it.evicted, it.last, it.cycle, it.company = false, nil, r.cycle, false
	it.notReady = true
	if n.assignment.cut(it) {
		it.doubt = n.assignment.whyCut(it)
	}
	if n.assignment.undecided != "" {
		it.doubt = "quota allows it, but " + n.assignment.undecided
	}
	it.state = it.queue.stateOf(sets)
	it.admitted = it.state == Admitted
	if it.local != nil {
		it.queue.ledger.enter(it)
		it.queue.line.reorder()
	}
	it.reason, it.message, it.possible = reasonQuotaReserved, "Quota reserved in ClusterQueue "+it.queue.name, nil
	r.epoch++
}

// requeue puts a nominee back: to be tried at once, or aside until something changes in the cohort.
func (r *run) requeue(n *nominee) {
	it := n.it
	l := &it.queue.line
	r.say(n, r.granular(n.fine, reasonPending))
	if n.skipped && n.why == generic {
		n.why = failedAfterNomination
	}
	if n.why == pendingPreemption {
		l.preemptor = it
		if !it.queue.strict {
			l.setSticky(it)
		}
		for _, t := range n.targets {
			r.evictions = append(r.evictions, eviction{victim: t.item, message: preemptionMessage(it, t)})
		}
	}
	again := it.queue.strict || n.why == failedAfterNomination || n.why == pendingPreemption
	if again || l.retriedAt >= l.pops || it.last.pending() {
		l.push(it)
		r.forget(it)
		return
	}
	l.park(it)
	it.luck.attempts = 0
	r.epoch++
	if it.shape() != "" && (n.why == didNotFit || n.why == nobodyToPreempt) && !it.queue.strict {
		for _, moved := range l.bar(it.shape(), it.reason) {
			r.bypass(moved, it.reason)
		}
		r.bypassSelf(n)
	}
}

// eviction is a victim and what its condition will say.
type eviction struct {
	victim  *item
	message string
	// atOnce: the reservation is taken back without waiting for a job to stop, as that of a workload that never started.
	atOnce bool
}

// turnDown is for a workload whose requests are wrong: its turn is over, but a strict queue waits for it all the same.
func (r *run) turnDown(n *nominee) {
	r.say(n, r.granular(reasonMisconfigured, reasonPending))
	if n.it.queue.strict {
		n.it.queue.line.push(n.it)
		return
	}
	n.it.queue.line.park(n.it)
	r.epoch++
}

// waitsInactive tells that all that keeps the workload from its turn is that its ClusterQueue is not active.
func (it *item) waitsInactive() bool {
	return it.state != Deactivated && it.blocked != nil && it.queue.inactive != "" && it.message == it.blocked.Message && it.blocked.Queue == message.ClusterQueueInactive
}

// turnAway is for a workload whose namespace its queue does not take: it waits aside even in a strict queue.
func (r *run) turnAway(it *item) {
	d, l := it.blocked, &it.queue.line
	it.state, it.reason, it.message, it.possible = d.State, d.Reason, d.Message, d.Possible
	if l.retriedAt >= l.pops {
		l.push(it)
		return
	}
	l.park(it)
	r.epoch++
}

// evict lets the jobs of victims stop: their quota comes back, they queue again, and what is parked in the cohort will
// be tried again. A Workload without a job to stop it keeps its quota.
func (r *run) evict() {
	marked := r.evictions
	r.evictions = nil
	slices.SortFunc(marked, func(a, b eviction) int { return cmp.Compare(a.victim.seq, b.victim.seq) })
	for _, v := range marked {
		it := v.victim
		if it.held == nil || it.evicted && !it.owned {
			continue
		}
		r.epoch++
		it.evicted = true
		it.held.queue.tree.version++
		it.state = Evicted
		if !it.owned && !v.atOnce {
			continue
		}
		from := it.held.queue
		if it.held.penalty != nil && !it.admitted {
			from.ledger.leave(it, it.held)
			from.line.reorder()
		}
		it.release()
		from.generation++
		it.state, it.reason, it.message = Pending, reasonPending, v.message
		it.possible, it.cycle, it.company = nil, 0, len(marked) > 1
		if !it.queueStopped {
			r.retries[from.node.Root()] = true
		}
		r.turn(it, from.node.Root())
		r.counted(from)
		switch {
		case it.unknown != nil:
			it.state = Unknown
		case it.refused != nil && !it.turnedAway:
			it.state, it.reason, it.message, it.possible = it.refused.State, it.refused.Reason, it.refused.Message, it.refused.Possible
		case it.queue != nil:
			r.enqueue(it)
		}
	}
}
