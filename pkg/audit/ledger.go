package audit

import (
	"maps"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// ledger writes the rows of every tree.
func (b *builder) ledger() {
	for _, root := range b.trees.Roots {
		b.rows(root)
	}
}

func (b *builder) rows(n *admission.TreeNode) {
	b.out.Queues = append(b.out.Queues, Queue{Node: n, Says: b.says(n)})
	s := b.sums[n]
	keys := map[quota.FlavorResource]bool{}
	for i := range n.Lines {
		keys[n.Lines[i].FlavorResource] = true
	}
	for _, usage := range []quota.Usage{s.recomputed, s.allocated} {
		for fr, v := range usage {
			if v != 0 {
				keys[fr] = true
			}
		}
	}
	for name := range n.Demand {
		keys[quota.FlavorResource{Resource: name}] = true
	}
	for _, fr := range slices.SortedFunc(maps.Keys(keys), compareRows) {
		if b.shown(fr.Resource) {
			b.out.Ledger = append(b.out.Ledger, b.row(n, fr))
		}
	}
	for _, c := range n.Children {
		b.rows(c)
	}
}

func (b *builder) row(n *admission.TreeNode, fr quota.FlavorResource) Row {
	r := Row{Node: n, FlavorResource: fr}
	s := b.sums[n]
	whole := n
	for whole.Parent != nil {
		whole = whole.Parent
	}
	if l := n.Line(fr); l != nil {
		r.Sets, r.Nominal, r.Total = l.Sets, l.Nominal, l.Total
		r.Reserved, r.Admitted = Of(l.Reserved), Of(l.Admitted)
		r.Borrowed, r.Lent, r.LentAtMost = Of(l.Borrowed), Of(l.Lent), Of(l.LentAtMost)
	} else {
		zero := Of(0)
		r.Reserved, r.Admitted, r.Borrowed, r.Lent, r.LentAtMost = zero, zero, zero, zero, zero
	}
	r.Reserved.Known, r.Admitted.Known, r.Borrowed.Known = n.Known, n.Known, n.Known
	// What is lent depends on the whole tree.
	r.Lent.Known, r.LentAtMost.Known = whole.Known, whole.Known
	r.Recomputed = Cell{s.recomputed[fr], b.trees.Usage == admission.FromWorkloads && !s.unsure}
	r.Difference = r.Reserved.Minus(r.Recomputed)
	r.Allocated = Cell{s.allocated[fr], b.attributed() && !s.vague}
	r.Pending = Of(0)
	if fr.Flavor == "" {
		r.Pending.Amount = quota.Amount(n.Demand[fr.Resource])
	}
	r.Pending.Known = b.demandKnown(n)
	return r
}

// demandKnown tells that all workloads that wait are in the input, with what they ask for.
func (b *builder) demandKnown(n *admission.TreeNode) bool {
	return b.trees.Usage == admission.FromWorkloads && n.Counts.Unknown == 0
}

// totals sums the roots up, and sets the hardware beside them.
func (b *builder) totals() {
	of := map[quota.FlavorResource]*Total{}
	for _, r := range b.out.Ledger {
		if r.Node.Parent != nil {
			continue
		}
		t := of[r.FlavorResource]
		if t == nil {
			zero := Of(0)
			t = &Total{FlavorResource: r.FlavorResource, Reserved: zero, Recomputed: zero, Difference: zero,
				Pending: zero, Allocated: zero}
			of[r.FlavorResource] = t
		}
		t.Nominal = t.Nominal.Add(r.Total)
		t.Reserved, t.Recomputed, t.Difference = t.Reserved.Plus(r.Reserved), t.Recomputed.Plus(r.Recomputed),
			t.Difference.Plus(r.Difference)
		t.Pending, t.Allocated = t.Pending.Plus(r.Pending), t.Allocated.Plus(r.Allocated)
	}
	for _, fr := range slices.SortedFunc(maps.Keys(of), compareRows) {
		t := of[fr]
		b.hardware(t)
		b.out.Totals = append(b.out.Totals, *t)
	}
	b.lackUsage()
}

// lackUsage says why usage is not known, where it is not.
func (b *builder) lackUsage() {
	if b.trees.Usage != admission.FromWorkloads {
		b.lacks(ColumnRecomputed, "", "", cluster.Workload.Kind)
		b.lacks(ColumnPending, "", "", cluster.Workload.Kind)
	}
	for _, q := range b.out.Queues {
		n := q.Node
		switch {
		case !n.Queue:
		case !n.Known:
			b.lacks(ColumnReserved, n.Ref.String(), "", cluster.Workload.Kind)
		}
	}
	for _, c := range b.Charges() {
		if n := b.nodes[c.ClusterQueue]; n != nil && n.Counts.Unknown > 0 && c.Verdict == charge.Unknown && b.waits(c) {
			b.lacks(ColumnPending, n.Ref.String(), "what some workloads would be charged is not known", c.Missing...)
		}
	}
}
