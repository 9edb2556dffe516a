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
	// Certain is false when the order depends on what the input does not say; Why says on what.
	Certain bool
	Why     string
}

// Position is a waiting workload's place; nil for one that does not wait in a queue.
func (e *Engine) Position(c *charge.Charge) *Position {
	s := e.now()
	wl := e.byOf[c]
	if wl == nil || !wl.waits() {
		return nil
	}
	w := s.pendingOrder(wl.queue)
	at := w.at[wl]
	p := &Position{
		ClusterQueue: at.queue,
		LocalQueue:   at.local,
		Ahead:        w.charges[: at.queue-1 : at.queue-1],
		Strict:       wl.queue.strict,
		ByUsage:      wl.local != nil,
		Certain:      true,
	}
	switch {
	case len(w.charges) == 1:
	case wl.order.IsZero() && w.timeless[wl.priority] > 1:
		p.Certain, p.Why = false, "some workloads have no creation time in the input"
	case w.unknownPriority:
		p.Certain, p.Why = false, "the priority of a waiting workload is not known"
	}
	if !e.snap.Coverage.Has(cluster.Workload) {
		p.Certain, p.Why = false, "not all Workloads are in the input"
	}
	if why := s.undecided(order, wl, w.oneOfEach); why != "" {
		p.Certain, p.Why = false, why
	}
	return p
}

// pendingOrder is what waits in a queue in its order, with what the places of all its workloads depend on.
type pendingOrder struct {
	workloads []*schedulerWorkload
	charges   []*charge.Charge
	// at is nil until the workloads are put in order.
	at map[*schedulerWorkload]struct{ queue, local int } // from 1
	// timeless counts workloads without a creation time by priority.
	timeless        map[int64]int
	unknownPriority bool
	// oneOfEach is the first workload of each LocalQueue.
	oneOfEach []*schedulerWorkload
}

// pendingOrder is the order of a queue in the present state, worked out once.
func (s *scheduler) pendingOrder(q *queue) *pendingOrder {
	if s.pendingOrders == nil {
		s.pendingOrders = map[*queue]*pendingOrder{}
		for _, wl := range s.workloads {
			if !wl.waits() {
				continue
			}
			if s.pendingOrders[wl.queue] == nil {
				s.pendingOrders[wl.queue] = &pendingOrder{}
			}
			s.pendingOrders[wl.queue].workloads = append(s.pendingOrders[wl.queue].workloads, wl)
		}
	}
	l := s.pendingOrders[q]
	if l == nil {
		return &pendingOrder{}
	}
	if l.at == nil {
		l.sort()
	}
	return l
}

// sort puts the workloads into their order.
func (l *pendingOrder) sort() {
	type localQueue struct{ namespace, name string }
	l.at, l.timeless = map[*schedulerWorkload]struct{ queue, local int }{}, map[int64]int{}
	slices.SortFunc(l.workloads, (*schedulerWorkload).compare)
	local := map[localQueue]int{}
	for i, wl := range l.workloads {
		lq := localQueue{wl.namespace, wl.localQueue}
		if local[lq]++; local[lq] == 1 {
			l.oneOfEach = append(l.oneOfEach, wl)
		}
		l.charges = append(l.charges, wl.charge)
		l.at[wl] = struct{ queue, local int }{i + 1, local[lq]}
		l.unknownPriority = l.unknownPriority || wl.unknownPriority()
		if wl.order.IsZero() {
			l.timeless[wl.priority]++
		}
	}
}

// waits reports whether the workload stands in a queue.
func (wl *schedulerWorkload) waits() bool {
	return wl.state == Pending && wl.refused == nil && wl.held == nil && wl.queue != nil
}

func (wl *schedulerWorkload) unknownPriority() bool { return wl.charge.Workload.PriorityMissing != "" }

// Waiting lists the workloads that stand in a ClusterQueue, in its order.
func (e *Engine) Waiting(queue string) []*charge.Charge {
	s := e.now()
	return slices.Clone(s.pendingOrder(s.queues[queue]).charges)
}
