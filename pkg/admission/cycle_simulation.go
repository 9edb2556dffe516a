// Simulations and replays.

package admission

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Simulation is the outcome of scheduling until nothing changes.
type Simulation struct {
	// Replay: it began with nothing, and workloads arrived one at a time; else with the present state.
	Replay bool
	// Workloads are in the order in which their charges were given.
	Workloads []Outcome
	Timeline  []Cycle
	// Queues by name.
	Queues []QueueOutcome
	// Unknown says, for workloads whose decision can't be told, why; the rest of their cohort may come out differently.
	Unknown []string
	// Assumptions are sentences about what was supposed where the input does not tell.
	Assumptions []string
}

// Outcome is where one workload ended.
type Outcome struct {
	Charge *charge.Charge
	// ClusterQueue it holds quota in, else the one it is submitted to; empty when that is not known.
	ClusterQueue    string
	State           State
	Reason, Message string
	Possible        []string
	PodSets         []PodSet
	// Cycle in which it got its quota; 0 when it held it before, or does not hold it.
	Cycle int
	// Position among those that wait in the queue, from 1; 0 when it does not wait in one.
	Position int
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
	out, r := e.simulate(replay, false)
	if len(r.unaccounted) > 0 && !replay {
		with, _ := e.simulate(replay, true)
		out.doubt(with, r.unaccounted)
	}
	return out
}

// simulate is Simulate; all counts what queues report beyond what Workloads hold, too.
func (e *Engine) simulate(replay, all bool) (*Simulation, *run) {
	s, items := e.state(replay)
	r := newRun(s)
	out := &Simulation{Replay: replay}
	var waiting []*item
	for _, it := range s.items {
		switch {
		case it.held != nil:
		case it.state == Deactivated:
			if d := it.blocked; d != nil && !it.turnedAway && d.Message != "" {
				it.reason, it.message, it.possible = d.Reason, d.Message, d.Possible // the controller says so all the same
			}
		case it.unknown != nil:
			it.state = Unknown
			out.Unknown = append(out.Unknown, fmt.Sprintf("%s: %s", it.key, it.unknown.why()))
		case it.refused != nil && !it.turnedAway:
			it.state, it.reason, it.message, it.possible = it.refused.State, it.refused.Reason, it.refused.Message, it.refused.Possible
			if replay && it.queue != nil && it.waitsInactive() {
				waiting = append(waiting, it)
			}
		case it.state == Pending:
			waiting = append(waiting, it)
		}
	}
	if replay {
		slices.SortStableFunc(waiting, func(a, b *item) int { return compareTimes(a.created, b.created) })
		for _, it := range waiting {
			r.arrive(it)
			r.settle()
		}
	} else {
		for _, u := range s.unaccounted {
			if all {
				u.queue.node.Add(u.delta)
			}
		}
		r.start()
		r.evictPresent()
		for _, it := range waiting {
			r.enqueue(it)
		}
		clear(r.retries) // nothing is parked yet, and Kueue has counted these workloads long ago
		r.settle()
	}
	r.doubtBehind()
	r.settleDoubts()
	out.assume(r)
	out.Unknown = append(out.Unknown, r.unknown...)
	for _, c := range e.charges {
		out.Workloads = append(out.Workloads, items[c].outcome())
	}
	out.fill(r)
	return out, r
}

// doubt compares with a simulation that counts what queues report beyond what Workloads hold: what comes out otherwise
// can't be told.
func (out *Simulation) doubt(with *Simulation, more []unaccounted) {
	why := fmt.Sprintf("ClusterQueue %s reports more reserved than the Workloads in the input hold: some are missing, or its status is old", more[0].queue.name)
	changed := false
	for i := range out.Workloads {
		a, b := &out.Workloads[i], &with.Workloads[i]
		switch {
		case a.State != b.State || !reflect.DeepEqual(a.PodSets, b.PodSets):
			*a = Outcome{Charge: a.Charge, ClusterQueue: a.ClusterQueue, State: Unknown, Why: why}
			changed = true
		case a.Message != b.Message:
			a.Possible = slices.Compact(slices.Sorted(slices.Values(slices.Concat([]string{a.Message, b.Message}, a.Possible, b.Possible))))
		}
	}
	if changed {
		out.Unknown = append(out.Unknown, why)
	}
}

func (d *Decision) why() string {
	if len(d.Missing) > 0 {
		return "not in the input: " + strings.Join(d.Missing, ", ")
	}
	return d.Why
}

// evictPresent lets workloads go that are being evicted, and those whose queue is stopped: admitted ones where the queue
// is drained, others in any case.
func (r *run) evictPresent() {
	for _, it := range r.items {
		switch {
		case it.held == nil:
		case it.evicted && it.owned:
			r.evictions = append(r.evictions, eviction{victim: it, message: it.evictedBecause})
		case !it.evicted && it.stopped != "":
			r.evictions = append(r.evictions, eviction{it, it.stopped, !it.admitted})
		}
	}
	r.evict()
}

// assume says what was supposed.
func (out *Simulation) assume(r *run) {
	if lucky := slices.DeleteFunc(slices.Clone(r.items), func(it *item) bool { return !r.lucky[it] }); len(lucky) > 0 {
		out.Assumptions = append(out.Assumptions, "this version of Kueue tries "+listed(lucky)+" again and again until, by chance, it names the same short resource time after time; that is supposed to happen before anything else changes")
	}
	out.Assumptions = append(out.Assumptions, r.assumedTies()...)
	for _, name := range r.names {
		if q := r.queues[name]; r.timeless[q] && r.doubtfulTrees[q.node.Root()].why == "" {
			out.Assumptions = append(out.Assumptions, fmt.Sprintf(
				"ClusterQueue %s is ordered by what LocalQueues used; here that changes with each admission, and not by what Kueue finds in use every %s",
				name, q.ledger.interval))
		}
	}
	if slices.ContainsFunc(r.items, func(it *item) bool { return out.Replay && it.unknown == nil && onlyClassesMissing(it.charge) }) {
		out.Assumptions = append(out.Assumptions, "the input holds no DeviceClass; none is supposed to declare an extended resource that a workload asks for")
	}
	if r.halted && !r.crashed {
		out.Assumptions = append(out.Assumptions, "waitForPodsReady blocks admission until the pods of all admitted workloads are ready; here they are supposed never to be, so nothing is admitted after that")
	}
}

func (it *item) outcome() Outcome {
	o := Outcome{Charge: it.charge, ClusterQueue: it.charge.ClusterQueue, State: it.state, Reason: it.reason, Message: it.message, Possible: it.possible, Cycle: it.cycle}
	switch {
	case it.held != nil:
	case it.unknown != nil:
		o.Why = it.unknown.why()
	case it.refused != nil:
		o.Why = it.refused.Why
	}
	if it.held != nil {
		o.ClusterQueue, o.PodSets = it.held.queue.name, it.held.podSets
	}
	if it.doubt != "" {
		return Outcome{Charge: o.Charge, ClusterQueue: o.ClusterQueue, State: Unknown, Why: it.doubt}
	}
	return o
}

// fill adds what the queues hold, and the order in which workloads wait in them.
func (out *Simulation) fill(r *run) {
	waiting, admitted, aside := map[*queue][]*item{}, map[*queue]int{}, map[*queue]int{}
	for _, it := range r.items {
		switch {
		case it.held != nil:
			if it.admitted {
				admitted[it.held.queue]++
			}
		case it.turnedAway && (it.place == parked || it.place == queued), it.queue != nil && it.waitsInactive():
			aside[it.queue]++ // it is not tried, but its queue counts it
		case it.state == Pending && it.queue != nil:
			waiting[it.queue] = append(waiting[it.queue], it)
		}
	}
	position := map[*charge.Charge]int{}
	for q, items := range waiting {
		if r.doubtfulTrees[q.node.Root()].why != "" {
			continue
		}
		slices.SortFunc(items, q.line.compare)
		for i, it := range items {
			position[it.charge] = i + 1
		}
	}
	for i := range out.Workloads {
		out.Workloads[i].Position = position[out.Workloads[i].Charge]
	}
	out.Timeline = r.timeline
	for _, name := range r.names {
		q := r.queues[name]
		qo := QueueOutcome{Name: name, Usage: quota.Usage{}, Borrowed: quota.Usage{}, Pending: len(waiting[q]) + aside[q], Admitted: admitted[q]}
		for _, fr := range q.node.Keys() {
			qo.Usage[fr] = q.node.Used(fr)
			if b := q.node.Borrowed(fr); b > 0 {
				qo.Borrowed[fr] = b
			}
		}
		out.Queues = append(out.Queues, qo)
	}
}
