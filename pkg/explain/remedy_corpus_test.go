package explain_test

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestEveryRemedyAdmits applies every remedy offered for a recorded cluster to its objects, and explains them again.
func TestEveryRemedyAdmits(t *testing.T) {
	offered := 0
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" || !o.Golden {
			return // the dump is of this version
		}
		l := o.Load(t, o.Dump(t))
		explainer := explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges))
		for _, c := range l.Charges {
			x := explainer.Explain(c)
			waits := x.Predicted.State == explain.Pending || x.Predicted.State == explain.Inadmissible
			if waits && len(x.Remedies) == 0 && !testing.Short() {
				t.Logf("nothing offered for %s: %s %s", c.Workload.Name, x.Predicted.State, x.Predicted.Message)
			}
			for _, r := range x.Remedies {
				offered++
				if got := after(t, l, c, r); got != explain.Admitted && got != explain.QuotaReserved {
					t.Errorf("%s: after %q it is %s", c.Workload.Name, r.Action, got)
				}
			}
		}
	})
	if offered < 100 {
		t.Errorf("only %d remedies were offered for the whole corpus", offered)
	}
}

// after is the state predicted once the remedy's changes are made.
func after(t *testing.T, l corpus.Layers, c *charge.Charge, r explain.Remedy) explain.State {
	t.Helper()
	if len(r.Changes) == 0 {
		return explain.Admitted // nothing an object could show: kinds that count their pods in several places
	}
	snap, err := l.Snapshot.Apply(r.Changes...)
	if err != nil {
		t.Fatalf("%s: %v", r.Action, err)
	}
	conf, err := l.Config.Again(snap)
	if err != nil {
		t.Fatal(err)
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap))
	charges := engine.Charges(workload.Find(snap, conf, workload.Options{}))
	explainer := explain.New(snap, conf, admission.New(engine, charges))
	for _, other := range charges {
		if w := other.Workload; w.Namespace == c.Workload.Namespace && w.Name == c.Workload.Name && w.OwnerRef == c.Workload.OwnerRef {
			return explainer.Explain(other).Predicted.State
		}
	}
	return explain.None
}
