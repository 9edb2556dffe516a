// Cycles until nothing changes. Mirrors requeueAndUpdate of pkg/scheduler and RequeueWorkload of
// pkg/cache/queue/manager.go.

package admission

import (
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
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
	// evictions are victims whose jobs stop after the cycle; retries are trees of cohorts whose inadmissible workloads
	// are tried again when the scheduler is at rest.
	evictions []eviction
	retries   map[*quota.Node]bool
	halted    bool
	// crashed: the scheduler crashed.
	crashed bool
	// settled counts how often the scheduler came to rest. circling are trees in which it never does.
	settled      int
	loopingTrees map[*quota.Node]bool
	// doubtfulTrees are trees in which an unknown order decided.
	doubtfulTrees map[*quota.Node]doubtfulTree
	// timeless are queues whose order may change with time that does not pass here.
	timeless map[*queue]bool
	// chances is what is supposed where chance decides.
	chances chances
	// unknown are sentences about what can't be known.
	unknown []string
}

func newRun(s *scheduler) *run {
	return &run{
		scheduler: s, retries: map[*quota.Node]bool{}, loopingTrees: map[*quota.Node]bool{}, chances: newChances(),
		doubtfulTrees: map[*quota.Node]doubtfulTree{}, timeless: map[*queue]bool{},
	}
}

// arrive queues a workload. A queue that is not active counts it all the same.
func (r *run) arrive(wl *schedulerWorkload) {
	r.pass(wl.created)
	if wl.waitsInactive() {
		r.counted(wl.queue)
	} else {
		r.enqueue(wl)
	}
	r.arrived, r.clock = wl.created, wl.created
}

// start sets the clock of a run that begins with the present state: after all that has happened.
func (r *run) start() {
	see := func(t time.Time) {
		if t.After(r.clock) {
			r.clock = t
		}
	}
	for _, wl := range r.workloads {
		see(wl.created)
		see(wl.order)
		if wl.held != nil {
			see(wl.held.since)
		}
	}
	r.clock = r.clock.Add(time.Second)
}

// counted reports whether what a queue's status counts has changed. The controller of Cohort objects wakes up on that
// for every Cohort above the queue but the root, sums up the quota of the tree anew, and has everything set aside in it
// tried again.
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
func (r *run) enqueue(wl *schedulerWorkload) {
	l := &wl.queue.pending
	if r.loops(wl.queue) && wl.doubt == "" {
		wl.doubt = "preemption in its cohort goes round in circles, so its turn never comes here"
	}
	r.epoch++
	r.counted(wl.queue)
	if d := wl.blocked; d != nil && !wl.namespaceMismatch {
		wl.take(d)
		return
	}
	if _, barred := l.knownToFail[wl.schedulingHash()]; barred && wl.schedulingHash() != "" && !wl.queue.strict {
		l.setAside(wl)
		r.markBypassed(wl, l.knownToFail[wl.schedulingHash()])
		return
	}
	r.markPendingEvaluation(wl)
	l.push(wl)
}

// settle runs cycles until nothing changes, retrying what is set aside whenever quota came back: a second later, for
// Kueue gathers such events for as long.
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
				if r.queues[n.Name].pending.queueInadmissible() {
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
		if n := crashingEntry(ns); n != nil {
			r.crash(n)
			return
		}
		r.finish(ns)
		r.evict()
	}
}

// heads takes the heads of all queues, unless all were tried already in this state: trying again changes nothing.
func (r *run) heads() []*schedulerWorkload {
	fresh := false
	var queues []*queue
	for _, name := range r.names {
		q := r.queues[name]
		if q.inactive != "" || r.loops(q) {
			continue
		}
		if wl := q.pending.head(); wl != nil {
			r.dropOutdated(wl, r.cycle+1)
			queues = append(queues, q)
			fresh = fresh || !wl.tried(r.epoch) || wl.luckyEnd.attempts > 0
		}
	}
	if !fresh && !r.endScansByChance(queues) {
		for _, q := range queues {
			q.pending.head().alternates(r.epoch)
		}
		return nil
	}
	heads := make([]*schedulerWorkload, len(queues))
	for i, q := range queues {
		r.doubtOrder(q, q.pending.head())
		heads[i] = q.pending.pop()
		heads[i].try(r.epoch)
	}
	return heads
}
