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
