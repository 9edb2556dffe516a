// What is kept for those that wait for quota. Mirrors quotaResourcesToReserve of pkg/scheduler/scheduler.go.

package admission

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"

// addUsage counts usage for the rest of the cycle.
func (s *scheduler) addUsage(n *entry, u quota.Usage) simulatedUsage {
	node := n.workload.queue.node
	d := node.Delta(u)
	node.Add(d)
	return simulatedUsage{func() { node.Remove(d) }}
}

// toReserve is what is kept for a workload that waits although preemption would be allowed, so that others do not take
// it: up to what its queue may use.
func (s *scheduler) toReserve(n *entry) quota.Usage {
	node := n.workload.queue.node
	out := quota.Usage{}
	for fr, v := range n.usage() {
		l := node.Limits(fr)
		used := node.Used(fr)
		switch {
		case n.assignment.borrow > 0 && l.BorrowingLimit == nil:
			out[fr] = v
		case n.assignment.borrow > 0:
			out[fr] = min(v, l.Nominal.Add(*l.BorrowingLimit).Sub(used))
		default:
			out[fr] = max(0, min(v, l.Nominal.Sub(used)))
		}
	}
	return out
}
