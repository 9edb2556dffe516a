package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
	"github.com/gpu-quota/kubectl-gpu-quota/test/queueload"
)

// crowds are small clusters in which many workloads wait that are alike, or nearly so.
var crowds = map[string]queueload.Load{
	"room for some":         {Queues: 6, Cohorts: 2, Pending: 120, Running: 30, Nested: true},
	"no room":               {Queues: 6, Cohorts: 2, Pending: 120, Running: 30, Full: true, Nested: true},
	"preemption":            {Queues: 6, Cohorts: 2, Pending: 120, Running: 30, Full: true, Preempting: true},
	"fair sharing":          {Queues: 6, Cohorts: 2, Pending: 120, Running: 30, Full: true, Preempting: true, Fair: true},
	"each a bit different":  {Queues: 6, Cohorts: 2, Pending: 60, Running: 30, Full: true, Distinct: true},
	"newer ones give place": {Queues: 6, Cohorts: 2, Pending: 120, Running: 30, Full: true, Newer: true},
}

// TestWhatIsSharedIsTheWorkloadsOwn compares what workloads get that are alike with what each gets by itself.
func TestWhatIsSharedIsTheWorkloadsOwn(t *testing.T) {
	check := func(t *testing.T, shares, alone *Engine) {
		kinds := map[Likeness]bool{}
		for i, c := range shares.charges {
			if like, ok := shares.Likeness(c); ok {
				kinds[like] = true
			}
			other := alone.charges[i]
			clear(alone.decided)
			clear(alone.holders)
			same := cmp.Options{cmp.Comparer(func(a, b *charge.Charge) bool {
				return a.Workload.Namespace == b.Workload.Namespace && a.Workload.Name == b.Workload.Name
			}), cmpopts.IgnoreUnexported(Attempt{})}
			want := alone.Decide(other)
			if diff := cmp.Diff(want, shares.Decide(c), same); diff != "" {
				t.Errorf("%s (-alone +shared):\n%s", c.Workload.Name, diff)
			}
			for _, at := range want.Attempts {
				for _, l := range at.Lines {
					if diff := cmp.Diff(alone.Holders(other, l.FlavorResource), shares.Holders(c, l.FlavorResource), same); diff != "" {
						t.Errorf("%s: holders of %s in %s (-alone +shared):\n%s", c.Workload.Name, l.Resource, l.Flavor, diff)
					}
				}
			}
		}
		if len(kinds) == len(shares.charges) && len(kinds) > 20 {
			t.Errorf("no two of %d workloads are alike", len(kinds))
		}
	}
	for name, l := range crowds {
		t.Run(name, func(t *testing.T) { check(t, engineOf(t, l), engineOf(t, l)) })
	}
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Golden {
			l := o.Load(t, o.Dump(t))
			check(t, New(l.Engine, l.Charges), New(l.Engine, l.Charges))
		}
	})
}

// TestWhatCouldNotFitDoesNot takes every holder, and every few of them, away from every waiting workload.
func TestWhatCouldNotFitDoesNot(t *testing.T) {
	served, ruledOut := 0, 0
	check := func(t *testing.T, e *Engine) {
		var holders []*charge.Charge
		e.now()
		for _, c := range e.charges {
			if e.byOf[c].held != nil {
				holders = append(holders, c)
			}
		}
		for _, c := range e.charges {
			if _, waits := e.Likeness(c); !waits {
				continue
			}
			for i := range holders {
				for _, gone := range [][]*charge.Charge{holders[i : i+1], holders[:i]} {
					could := e.CouldFit(c, gone)
					d := e.DecideWith(c, WhatIf{Without: gone})
					fits := d.State == Admitted || d.State == QuotaReserved
					if fits && !could {
						t.Fatalf("%s is said not to fit without %d others, and does", c.Workload.Name, len(gone))
					}
					if fits {
						served++
					} else if !could {
						ruledOut++
					}
				}
			}
		}
	}
	for name, l := range crowds {
		t.Run(name, func(t *testing.T) { check(t, engineOf(t, l)) })
	}
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Golden {
			l := o.Load(t, o.Dump(t))
			check(t, New(l.Engine, l.Charges))
		}
	})
	if served < 100 || ruledOut < 100 {
		t.Errorf("only %d were served and %d ruled out", served, ruledOut)
	}
}
