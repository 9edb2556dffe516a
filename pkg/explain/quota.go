package explain

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

func (e *Explainer) queue(name string) *kueue.ClusterQueue {
	if name == "" {
		return nil
	}
	return cluster.As[*kueue.ClusterQueue](e.snap.Get(cluster.ClusterQueue, "", name))
}

// compare sets every resource requested against every flavor the queue has for it.
func (e *Explainer) compare(c *charge.Charge, queue *kueue.ClusterQueue) []QuotaLine {
	if queue == nil {
		return nil
	}
	held := reservations(c)
	var out []QuotaLine
	for _, name := range slices.Sorted(maps.Keys(c.Total)) {
		request := c.Total[name]
		lines, covered := e.flavorLines(queue, name, request, held)
		if !covered && request != 0 {
			lines = []QuotaLine{{Resource: name, Requested: request}}
		}
		out = append(out, lines...)
	}
	slices.SortStableFunc(out, func(a, b QuotaLine) int { return cmp.Compare(a.Resource, b.Resource) })
	return out
}

// reservations sums what the workload holds per flavor and resource; nil when it holds no quota.
func reservations(c *charge.Charge) map[recorded.FlavorResource]int64 {
	if c.Workload == nil || !recorded.HoldsQuota(c.Workload.Object) {
		return nil
	}
	out := map[recorded.FlavorResource]int64{}
	for key, q := range recorded.Held(c.Workload.Object) {
		out[key] = charge.Add(out[key], charge.Units(key.Resource, q))
	}
	return out
}

func (e *Explainer) flavorLines(queue *kueue.ClusterQueue, name corev1.ResourceName, request int64,
	held map[recorded.FlavorResource]int64) (out []QuotaLine, covered bool) {
	for _, group := range queue.Spec.ResourceGroups {
		if !slices.Contains(group.CoveredResources, name) {
			continue
		}
		covered = true
		for _, flavor := range group.Flavors {
			for _, quota := range flavor.Resources {
				if quota.Name != name {
					continue
				}
				line := QuotaLine{
					Resource: name, Flavor: string(flavor.Name), Requested: request, Nominal: charge.Units(name,
						quota.NominalQuota),
					BorrowingLimit: limit(name, quota.BorrowingLimit), LendingLimit: limit(name, quota.LendingLimit),
				}
				own, holds := held[recorded.FlavorResource{Flavor: line.Flavor, Resource: name}]
				if held != nil && !holds {
					continue
				}
				if holds {
					line.Holds, line.Requested = true, own
				}
				out = append(out, e.fill(line, queue))
			}
		}
	}
	return out, covered
}

func limit(name corev1.ResourceName, q *resource.Quantity) *int64 {
	if q == nil {
		return nil
	}
	v := charge.Units(name, *q)
	return &v
}

// fill completes a line with what is used: by the Workloads in the input, or as the queue reports it where they are not
// there, or not all. A queue without any status reports nothing.
func (e *Explainer) fill(line QuotaLine, queue *kueue.ClusterQueue) QuotaLine {
	line.Used, line.UsedKnown = usage(queue, line)
	fr := quota.FlavorResource{Flavor: line.Flavor, Resource: line.Resource}
	// A report above what the Workloads hold tells of Workloads that are not in the input.
	if node := e.engine.Node(queue.Name); node != nil && !node.Cyclic && e.snap.Coverage.Has(cluster.Workload) &&
		line.Used <= int64(node.Used(fr)) {
		line.Live, line.UsedKnown = true, true
		line.Used, line.Available, line.Maximum = int64(node.Used(fr)), node.Available(fr), node.PotentialAvailable(fr)
	}
	base := line.Nominal
	if line.UsedKnown {
		line.Free = max(0, charge.Subtract(line.Nominal, line.Used))
		base = line.Free
	}
	if line.Live {
		base = int64(line.Available)
	}
	if !line.Holds {
		line.Short = max(0, charge.Subtract(line.Requested, base))
	}
	return line
}

func usage(queue *kueue.ClusterQueue, line QuotaLine) (used int64, known bool) {
	if len(queue.Status.FlavorsReservation) == 0 && len(queue.Status.Conditions) == 0 {
		return 0, false
	}
	for fr, q := range recorded.Reserved(queue) {
		if fr.Flavor == line.Flavor && fr.Resource == line.Resource {
			return charge.Units(line.Resource, q), true
		}
	}
	return 0, false
}

// binding lists the quota that is too small in each flavor tried, in the order it was tried.
func (e *Explainer) binding(x *Explanation) []Constraint {
	if x.Predicted.State != Pending && x.Predicted.State != Preempts {
		return nil
	}
	node := e.engine.Node(x.Charge.ClusterQueue)
	if node == nil {
		return nil
	}
	var out []Constraint
	for _, at := range x.Predicted.Attempts {
		for _, l := range at.Lines {
			if l.Short > 0 {
				out = append(out,
					Constraint{PodSet: at.PodSet, Line: l, Used: node.Used(l.FlavorResource),
						Nominal: node.Limits(l.FlavorResource).Nominal, Chosen: at.Chosen})
			}
		}
	}
	return out
}

// holders lists who holds what is short. Quota beyond the maximum is nobody's: no one can give it back.
func (e *Explainer) holders(x *Explanation) []admission.Holder {
	var lists [][]admission.Holder
	seen := map[quota.FlavorResource]bool{}
	for _, b := range x.Binding {
		if b.Over || seen[b.FlavorResource] {
			continue
		}
		seen[b.FlavorResource] = true
		lists = append(lists, e.engine.Holders(x.Charge, b.FlavorResource))
	}
	if len(lists) == 1 {
		return lists[0] // shared, as it is
	}
	return slices.Concat(lists...)
}
