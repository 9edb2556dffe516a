// Who waits outside of a queue, who leaves it, what LocalQueues hold.

package admission

import (
	"cmp"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Outside lists, of the workloads given, those that wait without standing in a ClusterQueue: they are refused or held
// back, or the queue takes none. They are in the order in which they would stand.
func (e *Engine) Outside(of func(*charge.Charge) bool) []*charge.Charge {
	var items []*schedulerWorkload
	for _, wl := range e.now().workloads {
		if wl.state == Pending && wl.held == nil && wl.refused != nil && of(wl.charge) {
			items = append(items, wl)
		}
	}
	slices.SortFunc(items, (*schedulerWorkload).compare)
	return chargesOf(items)
}

// Leaving lists the workloads that lose the quota they hold in a ClusterQueue because it, or their LocalQueue, is
// stopped, by namespace and name.
func (e *Engine) Leaving(queue string) []*charge.Charge {
	q := e.now().queues[queue]
	if q == nil {
		return nil
	}
	items := slices.DeleteFunc(slices.Clone(q.holders), func(wl *schedulerWorkload) bool { return wl.stopped == "" })
	slices.SortFunc(items, func(a, b *schedulerWorkload) int { return cmp.Compare(a.key, b.key) })
	return chargesOf(items)
}

func chargesOf(items []*schedulerWorkload) []*charge.Charge {
	out := make([]*charge.Charge, len(items))
	for i, wl := range items {
		out[i] = wl.charge
	}
	return out
}

// LocalUsage adds up what the workloads of a LocalQueue hold, and counts those that hold quota and those of them that
// are admitted.
func (e *Engine) LocalUsage(namespace, name string) (usage quota.Usage, reserving, admitted int) {
	usage = quota.Usage{}
	for _, wl := range e.now().workloads {
		if wl.held == nil || wl.namespace != namespace || wl.localQueue != name {
			continue
		}
		reserving++
		if conditionTrue(wl.charge.Workload.Object, kueue.WorkloadAdmitted) {
			admitted++
		}
		for fr, v := range wl.held.usage {
			usage[fr] = usage[fr].Add(v)
		}
	}
	return usage, reserving, admitted
}
