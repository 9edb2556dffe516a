package remedy_test

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// noRemedy are the workloads of the golden corpus for which nothing is offered, and why nothing is.
var noRemedy = map[string]string{
	"cel-first-error-wins/Job/j5":                        "nobody knows what is in the template that is missing",
	"charge-counter-incomplete-pool/Job/j1":              "the pool has to be published in full",
	"charge-counter-incomplete-pool/Job/j2":              "the pool has to be published in full",
	"check-inactive/Job/j1":                              "the check's controller has to make it active",
	"check-inactive/Job/j2":                              "nobody knows what the check is that is missing",
	"check-rejected/Job/a":                               "its check rejects it",
	"count-template-missing/Job/j1-absent":               "nobody knows what is in the template that is missing",
	"count-unsupported-kinds/Job/j3-direct":              "a claim has to become a template",
	"count-unsupported-kinds/Job/j4-direct-and-template": "a claim has to become a template",
	"count-unsupported-kinds/Job/j6-direct-missing":      "a claim has to become a template",
	"count-unsupported-kinds/Job/j8-direct-and-bad":      "a claim has to become a template",
	"counter-not-published/Job/j1":                       "no device consumes what the mapping names",
	"counter-not-published/Job/j2":                       "no device consumes what the mapping names",
	"counter-runtime-error-plain/Job/j1":                 "the selector of the class has to be mended",
	"flavor-missing/Job/j1":                              "no DeviceClass in the dump: its charge is not known",
	"gate-dra-off/Job/j2-direct":                         "a claim has to become a template",
	"gate-dra-off/Job/j5-absent":                         "nobody knows what is in the template that is missing",
	"kind-jobset-claims/JobSet/absent":                   "nobody knows what is in the template that is missing",
	"kind-pod-claims/Pod/direct":                         "a claim has to become a template",
	"podsets-claims//":                                   "a claim has to become a template",
	"queue-missing/Job/a-no-lq":                          "no DeviceClass in the dump: its charge is not known",
	"queue-missing/Job/b-no-cq":                          "no DeviceClass in the dump: its charge is not known",
	"queue-missing/Job/c-other-ns":                       "no DeviceClass in the dump: its charge is not known",
	"stop-clusterqueue-drain/Job/a":                      "no DeviceClass in the dump: its charge is not known",
	"stop-clusterqueue-drain/Job/b":                      "no DeviceClass in the dump: its charge is not known",
	"stop-clusterqueue-drain/Job/c":                      "no DeviceClass in the dump: its charge is not known",
}

// TestEveryRemedyAdmits applies every remedy offered for a recorded cluster to its objects, and explains them again. Where
// none is offered, there has to be a reason; a reason that no longer holds has to go.
func TestEveryRemedyAdmits(t *testing.T) {
	offered, stood := 0, map[string]bool{}
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" {
			return // the dump is of this version
		}
		l := o.Load(t, o.Dump(t))
		explainer := remedy.New(explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges)))
		for _, c := range l.Charges {
			x := explainer.Explain(c)
			name := o.Scenario + "/" + c.Workload.OwnerRef.Kind + "/" + c.Workload.OwnerRef.Name
			waits := x.Predicted.State == explain.Pending || x.Predicted.State == explain.Inadmissible || x.Predicted.State == explain.Deactivated
			if waits && len(x.Remedies) == 0 && o.Golden {
				if stood[name] = true; noRemedy[name] == "" {
					t.Errorf("nothing is offered for %s: %s %s %s", name, x.Predicted.State, x.Predicted.Message, x.Predicted.Why)
				}
			}
			for _, r := range x.Remedies {
				offered++
				if len(r.Changes) == 0 {
					t.Errorf("%s: nothing shows that %q would do", name, r.Action)
					continue
				}
				if got := after(t, l, c, r); got != explain.Admitted && got != explain.QuotaReserved {
					t.Errorf("%s: after %q it is %s", name, r.Action, got)
				}
			}
		}
	})
	for name, why := range noRemedy {
		if !stood[name] {
			t.Errorf("%s has a remedy, though %s", name, why)
		}
	}
	if offered < 600 {
		t.Errorf("only %d remedies were offered for the whole corpus", offered)
	}
}

// after is the state predicted once the remedy's changes are made.
func after(t *testing.T, l corpus.Layers, c *charge.Charge, r explain.Remedy) explain.State {
	t.Helper()
	snap, err := l.Snapshot.Apply(r.Changes...)
	if err != nil {
		t.Fatalf("%s: %v", r.Action, err)
	}
	conf, err := l.Config.Again(snap)
	if err != nil {
		t.Fatal(err)
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap, selector.Of(conf.Behavior)))
	charges := engine.Charges(workload.Find(snap, conf, workload.Options{}))
	explainer := remedy.New(explain.New(snap, conf, admission.New(engine, charges)))
	for _, other := range charges {
		if w := other.Workload; w.Namespace == c.Workload.Namespace && w.Name == c.Workload.Name && w.OwnerRef == c.Workload.OwnerRef {
			return explainer.Explain(other).Predicted.State
		}
	}
	return explain.None
}
