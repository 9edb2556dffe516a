package admission_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestPreemptionThatGoesRoundInCirclesIsNotFollowedForever: found by comparing with Kueue's scheduler on random
// clusters, where it goes on for ever, too. One queue's workload takes quota back from another's, which gets it again
// by borrowing.
func TestPreemptionThatGoesRoundInCirclesIsNotFollowedForever(t *testing.T) {
	sim := simulated(t, "testdata/circle.json")
	if len(sim.Unknown) != 1 || !strings.HasPrefix(sim.Unknown[0], "cohort-a0: preemption goes round in circles among team-b/w09, team-b/w34") {
		t.Errorf("said to be unknown: %q; want the cohort whose preemption goes round in circles", sim.Unknown)
	}
	states := map[admission.State]int{}
	for _, w := range sim.Workloads {
		states[w.State]++
		if w.State == admission.Unknown && (w.Why == "" || w.PodSets != nil) {
			t.Errorf("%s is unknown with why %q and pod sets %v", w.Charge.Workload.Name, w.Why, w.PodSets)
		}
	}
	if states[admission.Unknown] < 2 || states[admission.Admitted] == 0 || states[admission.Unknown] == len(sim.Workloads) {
		t.Errorf("got states %v; want those in the circle unknown, and others as they are", states)
	}
}

// simulated goes on from the state in a file.
func simulated(t *testing.T, file string) *admission.Simulation {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := corpus.Load(file, data, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	return admission.New(l.Engine, l.Charges).Simulate(false)
}
