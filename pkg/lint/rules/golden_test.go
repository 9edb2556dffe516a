package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueueconf"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

const corpus = "../../../testdata/golden/scenarios"

// decision is what a running Kueue made of a scenario.
type decision struct {
	Workloads []struct {
		Owner, Workload string
		Admission       json.RawMessage
		Conditions      []struct{ Type, Status, Reason, Message string }
	}
	Rejected            []json.RawMessage
	JobsWithoutWorkload []string
	FeatureGates        map[string]bool
}

// reasons leads from Kueue's words to the rules that may tell of them.
var reasons = []struct {
	words string
	rules []string
}{
	{"is not mapped in DRA configuration", []string{"GQ101"}},
	{"does not support use of resource claims", []string{"GQ301"}},
	{"configured; use ResourceClaimTemplates", []string{"GQ104"}},
}

func eachScenario(t *testing.T, check func(t *testing.T, result *lint.Result, d decision)) {
	dirs, err := filepath.Glob(filepath.Join(corpus, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "observed-v0.19.2.json"))
		if err != nil {
			continue // recorded from another version only
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var d decision
			if err := json.Unmarshal(text, &d); err != nil {
				t.Fatal(err)
			}
			options := kueueconf.Options{Version: "v0.19.2", FeatureGates: d.FeatureGates}
			result, _ := lintedFiles(t, []string{filepath.Join(dir, "scenario.yaml")}, options, lint.KubernetesVersion{Major: 1, Minor: 36})
			check(t, result, d)
		})
	}
}

// TestNoErrorsWhereKueueAdmitsAll: manifests that all ran are not wrong.
func TestNoErrorsWhereKueueAdmitsAll(t *testing.T) {
	eachScenario(t, func(t *testing.T, result *lint.Result, d decision) {
		if len(d.Rejected) > 0 || len(d.JobsWithoutWorkload) > 0 {
			return
		}
		for _, w := range d.Workloads {
			if string(w.Admission) == "null" {
				return
			}
		}
		for _, f := range result.Findings {
			if f.Severity == lint.Error {
				t.Errorf("an error where every workload was admitted: %s", shown(t, f))
			}
		}
	})
}

// TestRefusalsAreFound: what Kueue refused for a reason in the manifests has a finding of that reason.
func TestRefusalsAreFound(t *testing.T) {
	eachScenario(t, func(t *testing.T, result *lint.Result, d decision) {
		for _, w := range d.Workloads {
			for _, c := range w.Conditions {
				if c.Type != "QuotaReserved" || c.Status != "False" {
					continue
				}
				for _, r := range reasons {
					if !strings.Contains(c.Message, r.words) {
						continue
					}
					if !slices.ContainsFunc(result.Findings, func(f lint.Finding) bool {
						return slices.Contains(r.rules, f.Rule.ID) && f.Severity == lint.Error && (w.Owner == f.At.Object.Kind+"/"+f.At.Object.Name || w.Owner == "" && w.Workload == f.At.Object.Name)
					}) {
						t.Errorf("%s (%s): no finding %v for %q", w.Owner, w.Workload, r.rules, c.Message)
					}
				}
			}
		}
	})
}
