package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

const (
	// topHolders of a flavor and resource are named, and oldestPending workloads of a queue.
	topHolders    = 5
	oldestPending = 3
)

// holders names those with the most of each flavor and resource.
func (b *builder) holders() {
	of := map[quota.FlavorResource][]Holder{}
	for _, r := range b.reservations {
		for fr, v := range r.Usage {
			if b.shown(fr.Resource) && v > 0 {
				of[fr] = append(of[fr],
					Holder{Charge: r.Charge, ClusterQueue: r.ClusterQueue, FlavorResource: fr, Amount: v,
						Priority: r.Priority, Since: r.Since})
			}
		}
	}
	for _, fr := range slices.SortedFunc(maps.Keys(of), compareRows) {
		all := of[fr]
		slices.SortFunc(all, func(x, y Holder) int {
			return cmp.Or(cmp.Compare(y.Amount, x.Amount), compareCharges(x.Charge, y.Charge))
		})
		b.out.Holders = append(b.out.Holders, all[:min(topHolders, len(all))]...)
	}
}

func compareCharges(a, b *charge.Charge) int {
	return cmp.Or(cmp.Compare(a.Workload.Namespace, b.Workload.Namespace),
		cmp.Compare(a.Workload.Name, b.Workload.Name))
}

// pending explains the oldest workloads that wait, of each queue. Explaining all would take too long where thousands
// wait.
func (b *builder) pending() {
	of := map[string][]*charge.Charge{}
	for _, c := range b.Charges() {
		if b.waits(c) && b.nodes[c.ClusterQueue] != nil {
			of[c.ClusterQueue] = append(of[c.ClusterQueue], c)
		}
	}
	explainer := explain.New(b.snap, b.conf, b.Decider())
	for _, q := range b.out.Queues {
		if !q.Node.Queue {
			continue
		}
		waiting := of[q.Node.Name]
		slices.SortFunc(waiting, func(x, y *charge.Charge) int {
			return cmp.Or(x.Workload.Object.CreationTimestamp.Compare(y.Workload.Object.CreationTimestamp.Time),
				compareCharges(x, y))
		})
		for _, c := range waiting[:min(oldestPending, len(waiting))] {
			x := explainer.Explain(c)
			p := Pending{Charge: c, ClusterQueue: q.Node.Name, Created: c.Workload.Object.CreationTimestamp.Time,
				State: x.Predicted.State, Why: b.why(x)}
			if x.Position != nil {
				p.Position = x.Position.ClusterQueue
			}
			b.out.Pending = append(b.out.Pending, p)
		}
	}
}

// waits tells that a workload is there and has no quota, but may get some.
func (b *builder) waits(c *charge.Charge) bool {
	w := c.Workload
	return w.Object != nil && w.State.MakesWorkload() && w.Active && b.held[c] == nil &&
		w.Object.Status.Admission == nil &&
		!apimeta.IsStatusConditionTrue(w.Object.Status.Conditions, kueue.WorkloadFinished)
}

// why is what keeps a workload waiting, in the shortest words there are for it.
func (b *builder) why(x *explain.Explanation) string {
	d := x.Predicted
	if closest := explain.Closest(x.Binding); len(closest) > 0 {
		binding := closest[0]
		asks, format := binding.Before.Add(binding.Requested),
			func(v quota.Amount) string { return b.amount(binding.Resource, v) }
		if binding.Over {
			return fmt.Sprintf("%s: needs %s, and flavor %s can never give more than %s", binding.Resource,
				format(asks), binding.Flavor, format(binding.Maximum))
		}
		return fmt.Sprintf("%s: needs %s, %s is free in flavor %s", binding.Resource, format(asks),
			format(binding.Available), binding.Flavor)
	}
	if len(x.Charge.Problems) > 0 && d.State != admission.Admitted {
		return x.Charge.Problems[0].Message
	}
	switch {
	case d.State == admission.Admitted || d.State == admission.QuotaReserved:
		if x.Position != nil && x.Position.ClusterQueue > 1 {
			return fmt.Sprintf("it would fit now; %d wait before it", x.Position.ClusterQueue-1)
		}
		return "it would fit now"
	case d.Why != "":
		return d.Why
	}
	return d.Message
}
