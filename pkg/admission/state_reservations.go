// Who holds quota.

package admission

import (
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Reservation is the quota a workload holds now, as its status records it.
type Reservation struct {
	Charge       *charge.Charge
	ClusterQueue string
	// PodSets are those of the admission: their flavors, what they use, and for how many pods.
	PodSets []PodSet
	Usage   quota.Usage
	// Since is when it was reserved; zero when the input does not say.
	Since time.Time
	// Priority as preemption sees it.
	Priority int64
	// State is Admitted, QuotaReserved, or Evicted for one that is about to give its quota back.
	State State
}

// Reservations lists the workloads that hold quota, by queue and in the order of the input. The usage of a queue in
// [Engine.Trees] is the sum of theirs.
func (e *Engine) Reservations() []Reservation {
	s := e.now()
	var out []Reservation
	for _, name := range s.names {
		for _, wl := range s.queues[name].holders {
			out = append(out, Reservation{
				Charge: wl.charge, ClusterQueue: name, PodSets: wl.held.podSets, Usage: wl.held.usage,
				Since:    wl.held.since,
				Priority: wl.priority, State: wl.state,
			})
		}
	}
	return out
}
