package audit_test

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// of audits the layers over one dump, every resource.
func of(l corpus.Layers) *audit.Report {
	return audit.New(audit.Input{Layers: pipeline.New(l.Snapshot, l.Config), Findings: &lint.Result{}, AllResources: true})
}

// key is one row's place.
type key struct {
	queue bool
	name  string
	quota.FlavorResource
}

// TestTheRowsOfEveryRecordedClusterAddUp holds the ledger to its promise on every cluster that a running Kueue left
// behind: what is below a cohort sums up to its row, and every difference is that of workloads that are named.
func TestTheRowsOfEveryRecordedClusterAddUp(t *testing.T) {
	rows, differences, compared, seen := 0, 0, 0, map[audit.Reason]int{}
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		l := o.Load(t, o.Dump(t))
		r := of(l)
		compared += checkRecomputed(t, l, r)
		for _, d := range r.Differences {
			seen[d.Reason]++
			if d.Text == "" || d.Reserved == d.Recomputed || d.Charge.Verdict == charge.Unknown {
				t.Errorf("a difference that says nothing: %+v", d)
			}
		}
		rows += len(r.Ledger)
		differences += len(r.Differences)
		below, named := map[key]audit.Row{}, map[key]quota.Amount{}
		for _, row := range r.Ledger {
			if p := row.Node.Parent; p != nil {
				k := key{p.Queue, p.Name, row.FlavorResource}
				below[k] = plus(below[k], row)
			}
		}
		for _, d := range r.Differences {
			k := key{true, d.ClusterQueue, d.FlavorResource}
			named[k] = named[k].Add(d.Reserved.Sub(d.Recomputed))
		}
		for _, row := range r.Ledger {
			k := key{row.Node.Queue, row.Node.Name, row.FlavorResource}
			if row.Difference != row.Reserved.Minus(row.Recomputed) {
				t.Errorf("%v: difference %v of %v and %v", k, row.Difference, row.Reserved, row.Recomputed)
			}
			if row.Node.Queue {
				if row.Difference.Known && row.Difference.Amount != named[k] {
					t.Errorf("%v: the difference is %d, the workloads named make %d", k, row.Difference.Amount, named[k])
				}
				continue
			}
			sum := below[k]
			if want := sum.Total.Add(row.Nominal); row.Total != want {
				t.Errorf("%v: total %d, want %d", k, row.Total, want)
			}
			for column, pair := range map[string][2]audit.Cell{
				"reserved": {row.Reserved, sum.Reserved}, "admitted": {row.Admitted, sum.Admitted}, "recomputed": {row.Recomputed, sum.Recomputed},
				"difference": {row.Difference, sum.Difference}, "allocated": {row.Allocated, sum.Allocated}, "pending": {row.Pending, sum.Pending},
			} {
				if pair[0].Known && pair[0].Amount != pair[1].Amount {
					t.Errorf("%v: %s is %d, what is below it makes %d", k, column, pair[0].Amount, pair[1].Amount)
				}
			}
		}
		checkTotals(t, r)
	})
	if rows < 1000 || differences == 0 || compared < 500 {
		t.Errorf("only %d rows, %d differences and %d charges were looked at", rows, differences, compared)
	}
	// The dumps are of v0.19.2; read as those of other versions, some of their charges are another version's.
	if seen[audit.OtherVersion] == 0 || seen[audit.NotTold] > 0 {
		t.Errorf("reasons of the differences: %v", seen)
	}
}

func plus(a, b audit.Row) audit.Row {
	a.Total = a.Total.Add(b.Total)
	for _, c := range [][2]*audit.Cell{
		{&a.Reserved, &b.Reserved}, {&a.Admitted, &b.Admitted}, {&a.Recomputed, &b.Recomputed}, {&a.Difference, &b.Difference},
		{&a.Allocated, &b.Allocated}, {&a.Pending, &b.Pending},
	} {
		c[0].Amount = c[0].Amount.Add(c[1].Amount)
	}
	return a
}

func checkTotals(t *testing.T, r *audit.Report) {
	t.Helper()
	roots := map[quota.FlavorResource]audit.Row{}
	for _, row := range r.Ledger {
		if row.Node.Parent == nil {
			roots[row.FlavorResource] = plus(roots[row.FlavorResource], row)
		}
	}
	if len(roots) != len(r.Totals) {
		t.Errorf("%d totals, want %d", len(r.Totals), len(roots))
	}
	for _, total := range r.Totals {
		want := roots[total.FlavorResource]
		if total.Nominal != want.Total || total.Reserved.Amount != want.Reserved.Amount || total.Pending.Amount != want.Pending.Amount {
			t.Errorf("%v: total %+v, the roots make %+v", total.FlavorResource, total, want)
		}
	}
}

// checkRecomputed adds up the charges of the workloads that hold quota, as `charge` prints them. It returns how many
// amounts were compared.
func checkRecomputed(t *testing.T, l corpus.Layers, r *audit.Report) int {
	t.Helper()
	type of struct{ queue, resource string }
	want, reclaimed := map[of]int64{}, map[string]bool{}
	for _, held := range admission.New(l.Engine, l.Charges).Reservations() {
		for name, v := range held.Charge.Admitted() {
			want[of{held.ClusterQueue, string(name)}] += v
		}
		for _, ps := range held.Charge.PodSets {
			reclaimed[held.ClusterQueue] = reclaimed[held.ClusterQueue] || ps.Reclaimable > 0
		}
	}
	got, known := map[of]int64{}, map[string]bool{}
	for _, row := range r.Ledger {
		if row.Node.Queue {
			got[of{row.Node.Name, string(row.Resource)}] += int64(row.Recomputed.Amount)
			known[row.Node.Name] = row.Recomputed.Known
		}
	}
	compared := 0
	for k, v := range want {
		// What ended already is charged and not held; what the queue does not cover may not be looked at.
		if !known[k.queue] || reclaimed[k.queue] || got[k] == 0 && l.Config.IgnoresUndeclared() {
			continue
		}
		compared++
		if got[k] != v {
			t.Errorf("%v: recomputed %d, charge says %d", k, got[k], v)
		}
	}
	return compared
}
