// The place of a workload among those that wait. Mirrors Snapshot of pkg/cache/queue/cluster_queue.go.

package admission

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Position is a workload's place among those that wait, from 1.
type Position struct {
	ClusterQueue, LocalQueue int
	// Ahead are the workloads before it in the ClusterQueue, in order.
	Ahead []*charge.Charge
	// Strict: the queue takes the first or none (StrictFIFO).
	Strict bool
	// ByUsage: admission fair sharing puts workloads of the LocalQueue first that used less lately.
	ByUsage bool
	// Certain is false when the order depends on what the input does not tell; Why says on what.
	Certain bool
	Why     string
}

// Position tells a waiting workload's place; nil for one that does not wait in a queue.
func (e *Engine) Position(c *charge.Charge) *Position {
	s := e.now()
	it := e.byOf[c]
	if it == nil || !it.waits() {
		return nil
	}
	w := s.waiting(it.queue)
	at := w.at[it]
	p := &Position{ClusterQueue: at.queue, LocalQueue: at.local, Ahead: w.charges[: at.queue-1 : at.queue-1], Strict: it.queue.strict, ByUsage: it.local != nil, Certain: true}
	switch {
	case len(w.charges) == 1:
	case it.order.IsZero() && w.timeless[it.priority] > 1:
		p.Certain, p.Why = false, "some workloads have no creation time in the input"
	case w.unknownPriority:
		p.Certain, p.Why = false, "the priority of a waiting workload is not known"
	}
	if !e.snap.Coverage.Has(cluster.Workload) {
		p.Certain, p.Why = false, "not all Workloads are in the input"
	}
	if why := s.undecided(order, it, w.oneOfEach); why != "" {
		p.Certain, p.Why = false, why
	}
	return p
}

// waitingLine is what waits in a queue in its order, with what the places of all its workloads depend on.
type waitingLine struct {
	items   []*item
	charges []*charge.Charge
	// at is nil until the line is put in order.
	at map[*item]struct{ queue, local int } // from 1
	// timeless counts workloads without a creation time by priority.
	timeless        map[int64]int
	unknownPriority bool
	// oneOfEach is the first workload of each LocalQueue.
	oneOfEach []*item
}

// waiting is the line of a queue in the present state, worked out once.
func (s *scheduler) waiting(q *queue) *waitingLine {
	if s.lines == nil {
		s.lines = map[*queue]*waitingLine{}
		for _, it := range s.items {
			if !it.waits() {
				continue
			}
			if s.lines[it.queue] == nil {
				s.lines[it.queue] = &waitingLine{}
			}
			s.lines[it.queue].items = append(s.lines[it.queue].items, it)
		}
	}
	l := s.lines[q]
	if l == nil {
		return &waitingLine{}
	}
	if l.at == nil {
		l.arrange()
	}
	return l
}

// arrange puts the line into its order.
func (l *waitingLine) arrange() {
	type localQueue struct{ namespace, name string }
	l.at, l.timeless = map[*item]struct{ queue, local int }{}, map[int64]int{}
	slices.SortFunc(l.items, (*item).compare)
	local := map[localQueue]int{}
	for i, it := range l.items {
		lq := localQueue{it.namespace, it.localQueue}
		if local[lq]++; local[lq] == 1 {
			l.oneOfEach = append(l.oneOfEach, it)
		}
		l.charges = append(l.charges, it.charge)
		l.at[it] = struct{ queue, local int }{i + 1, local[lq]}
		l.unknownPriority = l.unknownPriority || it.unknownPriority()
		if it.order.IsZero() {
			l.timeless[it.priority]++
		}
	}
}

// waits tells that the workload stands in a queue.
func (it *item) waits() bool {
	return it.state == Pending && it.refused == nil && it.held == nil && it.queue != nil
}

func (it *item) unknownPriority() bool { return it.charge.Workload.PriorityMissing != "" }

// Waiting lists the workloads that stand in a ClusterQueue, in its order.
func (e *Engine) Waiting(queue string) []*charge.Charge {
	s := e.now()
	return slices.Clone(s.waiting(s.queues[queue]).charges)
}
