package admission

import (
	"os"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// TestWhatIsNotDecidedIsDocumented: docs/admission.md has a row for each feature that is left undecided.
func TestWhatIsNotDecidedIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range undecidedFeatures {
		if !strings.Contains(string(doc), "\n| "+u.feature+" | ") {
			t.Errorf("docs/admission.md has no row %q", u.feature)
		}
	}
}

// TestGatesThatAreNotKnown: what gates known by name change is not decided, where it may matter.
func TestGatesThatAreNotKnown(t *testing.T) {
	for _, tc := range []struct {
		gate       string
		fair, want bool
	}{
		{release.FairSharingRefill, false, false},
		{release.FairSharingRefill, true, true},
		{release.ConfigurablePreemptions, false, true},
		{release.PartialAdmission, true, false},
	} {
		s := &scheduler{conf: &config.Config{Gates: map[string]bool{tc.gate: true}}, fair: tc.fair}
		wl := &schedulerWorkload{identity: identity{charge: &charge.Charge{Workload: &workload.Workload{}}}}
		if got := s.undecided(attempt, wl, nil); (got != "") != tc.want {
			t.Errorf("%s, fair sharing %t: %q", tc.gate, tc.fair, got)
		}
	}
}

// TestHashWithoutNames: releases differ in whether the names of pod sets make workloads different; what is said of them
// differs in any case.
func TestHashWithoutNames(t *testing.T) {
	for _, ignored := range []bool{false, true} {
		of := func(name string) *schedulerWorkload {
			return &schedulerWorkload{requirements: requirements{
				sets: []podSet{{name: name, count: 1, specCount: 1}}, hashed: true, namesIgnored: ignored,
			}}
		}
		if a, b := of("a").schedulingHash(), of("b").schedulingHash(); (a == b) != ignored {
			t.Errorf("names ignored %t: hashes %s and %s", ignored, a, b)
		}
		if a, b := of("a").likeness(), of("b").likeness(); a == b {
			t.Errorf("names ignored %t: one likeness %s", ignored, a)
		}
	}
}
