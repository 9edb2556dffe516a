// All there is: queues, workloads, settings. Mirrors Scheduler of pkg/scheduler/scheduler.go and Snapshot of
// pkg/cache/scheduler.

package admission

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// timestampBuffer is how much later a candidate of equal priority must be queued under the gate
// SchedulerTimestampPreemptionBuffer.
const timestampBuffer = 5 * time.Minute

// scheduler is the scheduler's state: what is reserved and what waits.
type scheduler struct {
	conf     *config.Config
	behavior release.Behavior
	format   charge.Formatter

	fair             bool
	ignoreUndeclared bool
	blockAdmission   bool

	forest    *quota.Forest
	queues    map[string]*queue
	names     []string             // of queues, sorted
	workloads []*schedulerWorkload // in the order of the input

	unaccounted []unaccounted

	// pendingOrders are what waits in the queues; nil until asked for.
	pendingOrders map[*queue]*pendingOrder

	// newest is when the latest holder of quota in a tree was queued; filled when asked for.
	newest map[*tree]time.Time

	// preemption finds victims; the assignment of flavors asks it as an oracle.
	preemption *preemption
	oracle     preemptionOracle
	cycle      int
}

func (s *scheduler) gate(name string) bool { return s.conf.Enabled(name) }

// ordered lists requests in the order in which the version walks resources; for an arbitrary order, by name.
func (s *scheduler) ordered(sum map[corev1.ResourceName]int64) []request {
	names := make([]corev1.ResourceName, 0, len(sum))
	for name := range sum {
		names = append(names, name)
	}
	charge.SortResources(names, s.behavior.ResourceOrder)
	out := make([]request, len(names))
	for i, name := range names {
		out[i] = request{name, sum[name]}
	}
	return out
}

// placedByTopology reports whether topology decides about the workload, too.
func (s *scheduler) placedByTopology(wl *schedulerWorkload) bool {
	if !s.gate(release.TopologyAwareScheduling) {
		return false
	}
	if wl.queue.topologyOnly {
		return true
	}
	for i := range wl.sets {
		if wl.sets[i].topology {
			return true
		}
	}
	return false
}
