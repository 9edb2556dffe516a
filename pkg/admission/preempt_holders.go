// Whose quota a workload could use, and what forbids to preempt it.

package admission

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Holder is a workload with quota that another one could use.
type Holder struct {
	Charge         *charge.Charge
	ClusterQueue   string
	FlavorResource quota.FlavorResource
	Quantity       quota.Amount
	Priority       int64
	// Since is when its quota was reserved; zero when the input does not say.
	Since time.Time
	// Preemptible reports whether policies and priorities let the waiting workload preempt it. Why not says what
	// forbids it.
	Preemptible bool
	WhyNot      string
	// Evicted: it is about to give its quota back.
	Evicted bool
}

// Holders lists who holds quota of a flavor and resource that the workload's queue could use: in the queue itself, and
// in the rest of its cohort tree what is lent or borrowed. The most comes first. The list is shared by workloads of one
// queue and priority and must not be changed.
func (e *Engine) Holders(c *charge.Charge, fr quota.FlavorResource) []Holder {
	s := e.now()
	wl := e.byOf[c]
	if wl == nil || wl.queue == nil || wl.queue.node.Cyclic {
		return nil
	}
	if wl.held != nil {
		return s.holders(wl, fr)
	}
	key := holdersKey{wl.queue, wl.priority, s.preemptionOrder(wl), fr}
	out, known := e.holders[key]
	if !known {
		out = s.holders(wl, fr)
		e.holders[key] = out
	}
	return out
}

// holdersKey is all that a list of holders depends on for a workload that holds nothing itself.
type holdersKey struct {
	queue    *queue
	priority int64
	order    time.Time
	of       quota.FlavorResource
}

func (s *scheduler) holders(wl *schedulerWorkload, fr quota.FlavorResource) []Holder {
	q := &preemptionSearch{preemption: s.preemption, preemptor: wl, keys: []quota.FlavorResource{fr}}
	var out []Holder
	for n := range wl.queue.node.Root().AllQueues() {
		from := s.queues[n.Name]
		if from != wl.queue && n.Used(fr) <= n.Guaranteed(fr) {
			continue // it uses what it keeps for itself
		}
		for _, o := range from.holders {
			if o == wl || o.held.usage[fr] <= 0 {
				continue
			}
			h := Holder{
				Charge: o.charge, ClusterQueue: from.name, FlavorResource: fr, Quantity: o.held.usage[fr],
				Priority: o.priority,
				Since:    o.held.since, Evicted: o.evicted, WhyNot: q.whyNot(o),
			}
			h.Preemptible = h.WhyNot == ""
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b Holder) int {
		return cmp.Or(
			cmp.Compare(b.Quantity, a.Quantity),
			cmp.Compare(a.Charge.Workload.Namespace, b.Charge.Workload.Namespace),
			cmp.Compare(a.Charge.Workload.Name, b.Charge.Workload.Name),
		)
	})
	return out
}

// whyNot says, in the terms of the queue's fields, what keeps a workload from being preempted; empty when nothing does.
func (q *preemptionSearch) whyNot(o *schedulerWorkload) string {
	home, from := q.preemptor.queue, o.held.queue
	policy, field := home.preemption.WithinClusterQueue, "withinClusterQueue"
	if from != home {
		policy, field = home.preemption.ReclaimWithinCohort, "reclaimWithinCohort"
		if from.inactive != "" {
			return "its ClusterQueue takes part in no preemption while it is inactive"
		}
		if from.node.WithinQuota(q.keys) {
			return "its ClusterQueue is within its own quota"
		}
	}
	switch {
	case policy == "Never":
		return field + " is Never"
	case !q.allows(o, policy) && o.priority > q.preemptor.priority:
		return "its priority is higher"
	case !q.allows(o, policy) && o.priority == q.preemptor.priority:
		return field + " is " + string(policy) + ", and it has the same priority"
	case !q.allows(o, policy):
		return field + " is " + string(policy)
	}
	return ""
}
