package admission

import (
	"fmt"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Simulation is the outcome of scheduling until nothing changes.
type Simulation struct {
	// Replay: it began with nothing, and workloads arrived one at a time; else with the present state.
	Replay    bool
	Workloads []Outcome
	Timeline  []Cycle
	Queues    []QueueOutcome
	// Unknown says, for workloads whose decision can't be told, why; the rest of their cohort may come out differently.
	Unknown []string
}

// Outcome is where one workload ended.
type Outcome struct {
	Charge          *charge.Charge
	State           State
	Reason, Message string
	Possible        []string
	PodSets         []PodSet
	// Cycle in which it got its quota; 0 when it held it before, or does not hold it.
	Cycle int
	// Why a decision is unknown.
	Why string
}

// QueueOutcome is what a ClusterQueue holds in the end.
type QueueOutcome struct {
	Name              string
	Usage, Borrowed   quota.Usage
	Pending, Admitted int
}

// Simulate runs scheduling cycles until nothing changes. Replay ignores what the status of Workloads says and lets
// them arrive one at a time by creation, equal ones in the order of the input; otherwise what is reserved stays, and
// what waits is tried.
func (e *Engine) Simulate(replay bool) *Simulation {
	s, _ := e.state(replay)
	r := newRun(s)
	out := &Simulation{Replay: replay}
	var waiting []*item
	for _, it := range s.items {
		switch {
		case it.unknown != nil:
			it.state = Unknown
			out.Unknown = append(out.Unknown, fmt.Sprintf("%s: %s", it.key, it.unknown.why()))
		case it.refused != nil:
			it.state, it.reason, it.message, it.possible = it.refused.State, it.refused.Reason, it.refused.Message, it.refused.Possible
		case it.state == Pending:
			waiting = append(waiting, it)
		}
	}
	if replay {
		slices.SortStableFunc(waiting, func(a, b *item) int { return a.created.Compare(b.created) })
		for _, it := range waiting {
			r.arrive(it)
			r.settle()
		}
	} else {
		for _, u := range s.unaccounted {
			u.queue.node.Add(u.delta)
		}
		r.evictPresent()
		for _, it := range waiting {
			r.enqueue(it)
		}
		r.settle()
	}
	out.fill(r)
	return out
}

func (d *Decision) why() string {
	if len(d.Missing) > 0 {
		return fmt.Sprintf("missing %v", d.Missing)
	}
	return d.Why
}

// evictPresent lets workloads that are being evicted go.
func (r *run) evictPresent() {
	for _, it := range r.items {
		if it.held != nil && it.evicted && it.owned {
			r.evictions = append(r.evictions, eviction{it, it.message})
		}
	}
	r.evict()
}

func (out *Simulation) fill(r *run) {
	pending, admitted := map[*queue]int{}, map[*queue]int{}
	for _, it := range r.items {
		o := Outcome{Charge: it.charge, State: it.state, Reason: it.reason, Message: it.message, Possible: it.possible, Cycle: it.cycle}
		if it.unknown != nil {
			o.Why = it.unknown.why()
		}
		if it.held != nil {
			o.PodSets = it.held.podSets
			admitted[it.held.queue]++
		} else if it.state == Pending && it.queue != nil {
			pending[it.queue]++
		}
		out.Workloads = append(out.Workloads, o)
	}
	out.Timeline = r.timeline
	for _, name := range r.names {
		q := r.queues[name]
		qo := QueueOutcome{Name: name, Usage: quota.Usage{}, Borrowed: quota.Usage{}, Pending: pending[q], Admitted: admitted[q]}
		for _, fr := range q.node.Keys() {
			qo.Usage[fr] = q.node.Used(fr)
			if b := q.node.Borrowed(fr); b > 0 {
				qo.Borrowed[fr] = b
			}
		}
		out.Queues = append(out.Queues, qo)
	}
}
