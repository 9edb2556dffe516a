package explain

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

func (e *Explainer) queue(name string) *kueue.ClusterQueue {
	if name == "" {
		return nil
	}
	return cluster.As[*kueue.ClusterQueue](e.snap.Get(cluster.ClusterQueue, "", name))
}

// compare sets every resource requested against every flavor the queue has for it. Borrowing, lending
// and preemption are left out: the lines say what the queue's own quota allows.
func compare(c *charge.Charge, queue *kueue.ClusterQueue) []QuotaLine {
	if queue == nil {
		return nil
	}
	held := reservations(c)
	var out []QuotaLine
	for _, name := range slices.Sorted(maps.Keys(c.Total)) {
		request := c.Total[name]
		lines, covered := flavorLines(queue, name, request, held)
		if !covered && request != 0 {
			lines = []QuotaLine{{Resource: name, Requested: request}}
		}
		out = append(out, lines...)
	}
	slices.SortStableFunc(out, func(a, b QuotaLine) int { return cmp.Compare(a.Resource, b.Resource) })
	return out
}

type flavorResource struct {
	flavor   string
	resource corev1.ResourceName
}

// reservations sums what the workload holds per flavor and resource; nil when it holds no quota.
func reservations(c *charge.Charge) map[flavorResource]int64 {
	if c.Workload == nil || c.Workload.Object == nil || c.Workload.Object.Status.Admission == nil {
		return nil
	}
	out := map[flavorResource]int64{}
	for _, a := range c.Workload.Object.Status.Admission.PodSetAssignments {
		for name, flavor := range a.Flavors {
			key := flavorResource{string(flavor), name}
			out[key] = charge.Add(out[key], charge.Units(name, a.ResourceUsage[name]))
		}
	}
	return out
}

func flavorLines(queue *kueue.ClusterQueue, name corev1.ResourceName, request int64, held map[flavorResource]int64) (out []QuotaLine, covered bool) {
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
					Resource: name, Flavor: string(flavor.Name), Requested: request, Nominal: charge.Units(name, quota.NominalQuota),
					BorrowingLimit: limit(name, quota.BorrowingLimit), LendingLimit: limit(name, quota.LendingLimit),
				}
				own, holds := held[flavorResource{line.Flavor, name}]
				if held != nil && !holds {
					continue
				}
				if holds {
					line.Holds, line.Requested = true, own
				}
				out = append(out, fill(line, queue))
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

// fill completes a line with what the queue reports as reserved. A queue without any status reports nothing.
func fill(line QuotaLine, queue *kueue.ClusterQueue) QuotaLine {
	line.Used, line.UsedKnown = usage(queue, line)
	base := line.Nominal
	if line.UsedKnown {
		line.Free = max(0, charge.Subtract(line.Nominal, line.Used))
		base = line.Free
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
	for _, f := range queue.Status.FlavorsReservation {
		if string(f.Name) != line.Flavor {
			continue
		}
		for _, r := range f.Resources {
			if r.Name == line.Resource {
				return charge.Units(line.Resource, r.Total), true
			}
		}
	}
	return 0, false
}

// binding are the lines that alone keep the workload out: the queue can borrow from nobody, and the
// resource has one flavor only.
func binding(x *Explanation, queue *kueue.ClusterQueue) []QuotaLine {
	if queue == nil || queue.Spec.CohortName != "" || x.Charge.Verdict != charge.Charged || partial(x.Charge) {
		return nil
	}
	flavors := map[corev1.ResourceName]int{}
	for _, l := range x.Quota {
		flavors[l.Resource]++
	}
	var out []QuotaLine
	for _, l := range x.Quota {
		if l.Flavor != "" && l.Short > 0 && flavors[l.Resource] == 1 {
			out = append(out, l)
		}
	}
	return out
}

// partial tells that Kueue may admit the workload with fewer pods.
func partial(c *charge.Charge) bool {
	return c.Workload != nil && slices.ContainsFunc(c.Workload.PodSets, func(p workloadPodSet) bool { return p.MinCount != nil })
}
