// Who waits outside of a queue, who leaves it, what LocalQueues hold.

package admission

import (
	"cmp"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Outside lists, of the workloads given, those that wait without standing in the line of a ClusterQueue: they are refused
// or held back, or the queue takes none. They are in the order in which they would stand.
func (e *Engine) Outside(of func(*charge.Charge) bool) []*charge.Charge {
	var items []*item
	for _, it := range e.now().items {
		if it.state == Pending && it.held == nil && it.refused != nil && of(it.charge) {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, (*item).compare)
	return chargesOf(items)
}

// Leaving lists the workloads that lose the quota they hold in a ClusterQueue because it, or their LocalQueue, is
// stopped, by namespace and name.
func (e *Engine) Leaving(queue string) []*charge.Charge {
	q := e.now().queues[queue]
	if q == nil {
		return nil
	}
	items := slices.DeleteFunc(slices.Clone(q.holders), func(it *item) bool { return it.stopped == "" })
	slices.SortFunc(items, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
	return chargesOf(items)
}

func chargesOf(items []*item) []*charge.Charge {
	out := make([]*charge.Charge, len(items))
	for i, it := range items {
		out[i] = it.charge
	}
	return out
}

// LocalUsage adds up what the workloads of a LocalQueue hold, and counts those that hold quota and those of them that are
// admitted.
func (e *Engine) LocalUsage(namespace, name string) (usage quota.Usage, reserving, admitted int) {
	usage = quota.Usage{}
	for _, it := range e.now().items {
		if it.held == nil || it.namespace != namespace || it.localQueue != name {
			continue
		}
		reserving++
		if conditionTrue(it.charge.Workload.Object, kueue.WorkloadAdmitted) {
			admitted++
		}
		for fr, v := range it.held.usage {
			usage[fr] = usage[fr].Add(v)
		}
	}
	return usage, reserving, admitted
}
