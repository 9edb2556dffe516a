package remedy_test

import (
	"os"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestPodsThatAreNotReady: Kueue has written PodsReady=False on what it started, as it does wherever it waits for pods.
func TestPodsThatAreNotReady(t *testing.T) {
	dump, err := os.ReadFile("../../testdata/recorded/scenarios/pods-not-ready/dump.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := corpus.Load("dump.yaml", dump, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	explainer := remedy.New(explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges)))
	waiting := 0
	for _, c := range l.Charges {
		x := explainer.Explain(c)
		if x.Predicted.State != explain.Pending {
			continue
		}
		waiting++
		if want := "wait until the pods of default/a are ready"; len(x.Remedies) != 1 || x.Remedies[0].Action != want {
			t.Errorf("%s: %+v, want %q", c.Workload.OwnerRef.Name, x.Remedies, want)
		}
	}
	if waiting != 4 {
		t.Errorf("%d workloads wait, not 4", waiting)
	}
}
