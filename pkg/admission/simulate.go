package admission

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Step is what happened to one workload in a cycle.
type Step struct {
	Workload     string // namespace/name
	Charge       *charge.Charge
	ClusterQueue string
	Decision     StepDecision
	// Targets are the workloads it preempts.
	Targets []Target
	Detail  string
}

// StepDecision is what a cycle decided about one workload.
type StepDecision string

const (
	// Admit: it got its quota.
	Admit StepDecision = "Admit"
	// Preempt: others are evicted for it; it is tried again once they are gone.
	Preempt StepDecision = "Preempt"
	// Refuse: it does not fit.
	Refuse StepDecision = "NoFit"
	// Skip: something earlier in the cycle got in its way.
	Skip StepDecision = "Skip"
)

// Cycle is one scheduling cycle.
type Cycle struct {
	Number int
	// Time is the arrival that started it in a replay; zero otherwise.
	Time  time.Time
	Steps []Step
}

// run drives a scheduler until nothing changes.
type run struct {
	*scheduler
	timeline []Cycle
	// epoch counts changes of what is reserved or queued; an attempt repeated within one epoch changes nothing.
	epoch int
	// arrived is the arrival that a replay is at; clock is when what is reserved now was reserved.
	arrived, clock time.Time
	// evictions are victims whose jobs stop after the cycle; retries are trees of cohorts whose parked workloads are
	// tried again when the scheduler is at rest.
	evictions []eviction
	retries   map[*quota.Node]bool
	halted    bool
	// crashed: the scheduler crashed.
	crashed bool
	// settled counts how often the scheduler came to rest. circling are trees in which it never does.
	settled  int
	circling map[*quota.Node]bool
	// doubtfulTrees are trees in which an unknown order decided.
	doubtfulTrees map[*quota.Node]doubtfulTree
	// timeless are queues whose order may change with time that does not pass here.
	timeless map[*queue]bool
	// lucky are workloads whose scan of flavors ends by chance.
	lucky map[*item]bool
	// ties are sentences about what chance decides and is supposed here.
	ties     []string
	tieNoted map[string]bool
	// unknown are sentences about what can't be told.
	unknown []string
}

func newRun(s *scheduler) *run {
	return &run{
		scheduler: s, retries: map[*quota.Node]bool{}, circling: map[*quota.Node]bool{}, lucky: map[*item]bool{},
		tieNoted: map[string]bool{}, doubtfulTrees: map[*quota.Node]doubtfulTree{}, timeless: map[*queue]bool{},
	}
}

// arrive queues a workload. A queue that is not active counts it all the same.
func (r *run) arrive(it *item) {
	r.pass(it.created)
	if it.waitsInactive() {
		r.counted(it.queue)
	} else {
		r.enqueue(it)
	}
	r.arrived, r.clock = it.created, it.created
}

// start sets the clock of a run that begins with the present state: after all that has happened.
func (r *run) start() {
	see := func(t time.Time) {
		if t.After(r.clock) {
			r.clock = t
		}
	}
	for _, it := range r.items {
		see(it.created)
		see(it.order)
		if it.held != nil {
			see(it.held.since)
		}
	}
	r.clock = r.clock.Add(time.Second)
}

// counted tells that what a queue's status counts has changed. The controller of Cohort objects wakes up on that for
// every Cohort above the queue but the root, sums up the quota of the tree anew, and has everything parked in it tried again.
func (r *run) counted(q *queue) {
	for a := range q.node.Ancestors() {
		if !a.Implicit && a.Parent() != nil {
			r.retries[q.node.Root()] = true
			q.tree.generation++
			return
		}
	}
}

// enqueue puts a workload into its queue, or aside when an equal one has failed.
func (r *run) enqueue(it *item) {
	l := &it.queue.line
	if r.stuck(it.queue) && it.doubt == "" {
		it.doubt = "preemption in its cohort goes round in circles, so its turn never comes here"
	}
	r.epoch++
	r.counted(it.queue)
	if d := it.blocked; d != nil && !it.turnedAway {
		it.state, it.reason, it.message, it.possible = d.State, d.Reason, d.Message, d.Possible
		return
	}
	if _, barred := l.barred[it.shape()]; barred && it.shape() != "" && !it.queue.strict {
		l.park(it)
		r.bypass(it, l.barred[it.shape()])
		return
	}
	r.stamp(it)
	l.push(it)
}

// settle runs cycles until nothing changes, retrying what is parked whenever quota came back: a second later, for Kueue
// gathers such events for as long.
func (r *run) settle() {
	r.settled++
	for !r.halted {
		r.rest()
		if len(r.retries) == 0 || r.halted {
			return
		}
		r.clock = r.clock.Add(time.Second)
		for root := range r.retries {
			for n := range root.AllQueues() {
				if r.queues[n.Name].line.retry() {
					r.epoch++
				}
			}
		}
		clear(r.retries)
	}
}

// rest runs cycles until every head has been tried in the present state.
func (r *run) rest() {
	for !r.halted {
		heads := r.heads()
		if len(heads) == 0 {
			return
		}
		ns := r.schedule(heads)
		if n := crashing(ns); n != nil {
			r.crash(n)
			return
		}
		r.finish(ns)
		r.evict()
	}
}

// heads takes the heads of all queues, unless all were tried already in this state: trying again changes nothing.
func (r *run) heads() []*item {
	fresh := false
	var queues []*queue
	for _, name := range r.names {
		q := r.queues[name]
		if q.inactive != "" || r.stuck(q) {
			continue
		}
		if it := q.line.head(); it != nil {
			r.dropOutdated(it, r.cycle+1)
			queues = append(queues, q)
			fresh = fresh || !it.tried(r.epoch) || it.luck.attempts > 0
		}
	}
	if !fresh && !r.wayOut(queues) {
		for _, q := range queues {
			q.line.head().byTurns(r.epoch)
		}
		return nil
	}
	heads := make([]*item, len(queues))
	for i, q := range queues {
		r.doubtOrder(q, q.line.head())
		heads[i] = q.line.pop()
		heads[i].try(r.epoch)
	}
	return heads
}

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
