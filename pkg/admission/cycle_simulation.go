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
	// Unknown says, for workloads whose decision can't be known, why; the rest of their cohort may come out
	// differently.
	Unknown []string
	// Assumptions are sentences about what was supposed where the input does not say.
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
	var waiting []*schedulerWorkload
	for _, wl := range s.workloads {
		switch {
		case wl.held != nil:
		case wl.state == Deactivated:
			if d := wl.blocked; d != nil && !wl.namespaceMismatch && d.Message != "" {
				// the controller says so all the same
				wl.reason, wl.message, wl.possible = d.Reason, d.Message, d.Possible
			}
		case wl.unknown != nil:
			wl.state = Unknown
			out.Unknown = append(out.Unknown, fmt.Sprintf("%s: %s", wl.key, wl.unknown.why()))
		case wl.refused != nil && !wl.namespaceMismatch:
			wl.take(wl.refused)
			if replay && wl.queue != nil && wl.waitsInactive() {
				waiting = append(waiting, wl)
			}
		case wl.state == Pending:
			waiting = append(waiting, wl)
		}
	}
	if replay {
		slices.SortStableFunc(waiting, func(a, b *schedulerWorkload) int { return compareTimes(a.created, b.created) })
		for _, wl := range waiting {
			r.arrive(wl)
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
		for _, wl := range waiting {
			r.enqueue(wl)
		}
		clear(r.retries) // nothing is set aside yet, and Kueue has counted these workloads long ago
		r.settle()
	}
	r.doubtBehindLoops()
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
// can't be known.
func (out *Simulation) doubt(with *Simulation, more []unaccounted) {
	why := fmt.Sprintf(
		"ClusterQueue %s reports more reserved than the Workloads in the input hold: some are missing, or its status "+
			"is old",
		more[0].queue.name,
	)
	changed := false
	for i := range out.Workloads {
		a, b := &out.Workloads[i], &with.Workloads[i]
		switch {
		case a.State != b.State || !reflect.DeepEqual(a.PodSets, b.PodSets):
			*a = Outcome{Charge: a.Charge, ClusterQueue: a.ClusterQueue, State: Unknown, Why: why}
			changed = true
		case a.Message != b.Message:
			a.Possible = slices.Compact(
				slices.Sorted(slices.Values(slices.Concat([]string{a.Message, b.Message}, a.Possible, b.Possible))),
			)
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

// evictPresent lets workloads go that are being evicted, and those whose queue is stopped: admitted ones where the
// queue is drained, others in any case.
func (r *run) evictPresent() {
	for _, wl := range r.workloads {
		switch {
		case wl.held == nil:
		case wl.evicted && wl.owned:
			r.evictions = append(r.evictions, eviction{victim: wl, message: wl.evictedBecause})
		case !wl.evicted && wl.stopped != "":
			r.evictions = append(r.evictions, eviction{wl, wl.stopped, !wl.admitted})
		}
	}
	r.evict()
}

// assume says what was supposed.
func (out *Simulation) assume(r *run) {
	out.Assumptions = append(out.Assumptions, r.chances.assumptions(r.workloads)...)
	for _, name := range r.names {
		if q := r.queues[name]; r.timeless[q] && r.doubtfulTrees[q.node.Root()].why == "" {
			out.Assumptions = append(out.Assumptions, fmt.Sprintf(
				"ClusterQueue %s is ordered by what LocalQueues used; here that changes with each admission, "+
					"and not by what Kueue finds in use every %s",
				name,
				q.ledger.interval,
			))
		}
	}
	if slices.ContainsFunc(r.workloads, func(wl *schedulerWorkload) bool {
		return out.Replay && wl.unknown == nil && onlyClassesMissing(wl.charge)
	}) {
		out.Assumptions = append(
			out.Assumptions,
			"the input holds no DeviceClass; none is supposed to declare an extended resource that a workload asks for",
		)
	}
	if r.halted && !r.crashed {
		out.Assumptions = append(
			out.Assumptions,
			"waitForPodsReady blocks admission until the pods of all admitted workloads are ready; "+
				"here they are supposed never to be, so nothing is admitted after that",
		)
	}
}

func (wl *schedulerWorkload) outcome() Outcome {
	o := Outcome{
		Charge:       wl.charge,
		ClusterQueue: wl.charge.ClusterQueue,
		State:        wl.state,
		Reason:       wl.reason,
		Message:      wl.message,
		Possible:     wl.possible,
		Cycle:        wl.cycle,
	}
	switch {
	case wl.held != nil:
	case wl.unknown != nil:
		o.Why = wl.unknown.why()
	case wl.refused != nil:
		o.Why = wl.refused.Why
	}
	if wl.held != nil {
		o.ClusterQueue, o.PodSets = wl.held.queue.name, wl.held.podSets
	}
	if wl.doubt != "" {
		return Outcome{Charge: o.Charge, ClusterQueue: o.ClusterQueue, State: Unknown, Why: wl.doubt}
	}
	return o
}

// fill adds what the queues hold, and the order in which workloads wait in them.
func (out *Simulation) fill(r *run) {
	waiting, admitted, aside := map[*queue][]*schedulerWorkload{}, map[*queue]int{}, map[*queue]int{}
	for _, wl := range r.workloads {
		switch {
		case wl.held != nil:
			if wl.admitted {
				admitted[wl.held.queue]++
			}
		case wl.namespaceMismatch && (wl.place == inadmissible || wl.place == queued), wl.queue != nil &&
			wl.waitsInactive():
			aside[wl.queue]++ // it is not tried, but its queue counts it
		case wl.state == Pending && wl.queue != nil:
			waiting[wl.queue] = append(waiting[wl.queue], wl)
		}
	}
	position := map[*charge.Charge]int{}
	for q, items := range waiting {
		if r.doubtfulTrees[q.node.Root()].why != "" {
			continue
		}
		slices.SortFunc(items, q.pending.compare)
		for i, wl := range items {
			position[wl.charge] = i + 1
		}
	}
	for i := range out.Workloads {
		out.Workloads[i].Position = position[out.Workloads[i].Charge]
	}
	out.Timeline = r.timeline
	for _, name := range r.names {
		q := r.queues[name]
		qo := QueueOutcome{
			Name:     name,
			Usage:    quota.Usage{},
			Borrowed: quota.Usage{},
			Pending:  len(waiting[q]) + aside[q],
			Admitted: admitted[q],
		}
		for _, fr := range q.node.Keys() {
			qo.Usage[fr] = q.node.Used(fr)
			if b := q.node.Borrowed(fr); b > 0 {
				qo.Borrowed[fr] = b
			}
		}
		out.Queues = append(out.Queues, qo)
	}
}
