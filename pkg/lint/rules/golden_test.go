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
	{"AllocationMode 'All' is not supported", []string{"GQ302"}},
	{"FirstAvailable device selection is not supported", []string{"GQ303"}},
	{"AdminAccess is not supported", []string{"GQ310"}},
	{"failed to get claim spec", []string{"GQ304"}},
	{"failed to get DeviceClass", []string{"GQ220"}},
	{"insufficient matching devices", []string{"GQ209", "GQ210"}},
	{"no such key", []string{"GQ205"}},
	{"CEL evaluation", []string{"GQ205"}},
	{"have no consumesCounters entry", []string{"GQ201", "GQ202"}},
	{"have no capacity dimension", []string{"GQ202", "GQ214"}},
	{"capacity request cannot be satisfied", []string{"GQ219"}},
	{"extended resource quantity must be an integer", []string{"GQ311"}},
	{"feature gate is not enabled", []string{"GQ319"}},
	{"unavailable in ClusterQueue", []string{"GQ314"}},
	{"doesn't exist", []string{"GQ315"}},
	{" is inactive", []string{"GQ401", "GQ402", "GQ408", "GQ410", "GQ413"}},
	{"namespace doesn't match ClusterQueue selector", []string{"GQ412"}},
	{"untolerated taint", []string{"GQ403"}},
	{"doesn't match node affinity", []string{"GQ403"}},
	{"maximum capacity", []string{"GQ313"}},
	{"Admission is gated by", []string{"GQ325"}},
	{"exceed", []string{"GQ321"}},
	{"didn't satisfy LimitRange constraints", []string{"GQ323"}},
}

// notInManifests are the scenarios whose refusal the manifests do not tell of, with the reason.
var notInManifests = map[string]string{
	"cel-class-missing":             "no DeviceClass is in the manifests, so that one is missing is not known",
	"check-inactive":                "only the status of the check, which its controller writes, tells that it is inactive",
	"multi-queue-order-by-priority": "the queue is stopped at first and released later",
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

// TestNoErrorsOnWhatKueueAdmits: what ran is not wrong either where other workloads were refused.
func TestNoErrorsOnWhatKueueAdmits(t *testing.T) {
	eachScenario(t, func(t *testing.T, result *lint.Result, d decision) {
		admitted, refused := map[string]bool{}, map[string]bool{}
		for _, w := range d.Workloads {
			admitted[w.Owner] = admitted[w.Owner] || string(w.Admission) != "null"
			refused[w.Owner] = refused[w.Owner] || string(w.Admission) == "null"
		}
		for _, f := range result.Findings {
			job := f.At.Object.Kind + "/" + f.At.Object.Name
			if f.Severity == lint.Error && f.At.Object.Namespace == "default" && admitted[job] && !refused[job] {
				t.Errorf("an error on a workload that was admitted: %s", shown(t, f))
			}
		}
	})
}

// TestRefusalsAreFound: what Kueue refused for a reason in the manifests has a finding of that reason.
func TestRefusalsAreFound(t *testing.T) {
	eachScenario(t, func(t *testing.T, result *lint.Result, d decision) {
		if why := notInManifests[filepath.Base(t.Name())]; why != "" {
			return
		}
		for _, w := range d.Workloads {
			for _, c := range w.Conditions {
				if c.Type != "QuotaReserved" || c.Status != "False" {
					continue
				}
				for _, r := range reasons {
					if !strings.Contains(c.Message, r.words) || strings.Contains(c.Message, "insufficient unused quota") {
						continue
					}
					if !slices.ContainsFunc(result.Findings, func(f lint.Finding) bool {
						return slices.Contains(r.rules, f.Rule.ID) && isAbout(f, w.Owner, w.Workload)
					}) {
						t.Errorf("%s (%s): no finding %v for %q", w.Owner, w.Workload, r.rules, c.Message)
					}
				}
			}
		}
	})
}

// isAbout tells that a finding is about the job of a workload, a pod of its group, or a Workload that has no job.
func isAbout(f lint.Finding, owner, name string) bool {
	kind, _, _ := strings.Cut(owner, "/")
	switch kind {
	case "":
		return f.At.Object.Name == name
	case "PodGroup":
		return f.At.Object.Kind == "Pod"
	}
	return owner == f.At.Object.Kind+"/"+f.At.Object.Name
}
