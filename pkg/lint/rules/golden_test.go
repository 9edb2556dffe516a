package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// corpora hold scenarios with what a running Kueue made of them.
var corpora = []string{"../../../testdata/golden/scenarios", "../../../testdata/recorded/scenarios"}

// decision is what a running Kueue made of a scenario.
type decision struct {
	Workloads []struct {
		Owner, Workload string
		Admission       json.RawMessage
		Conditions      []struct{ Type, Status, Reason, Message string }
	}
	Rejected            []struct{ Kind, Name, Message string }
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

// toldOfAnother are workloads of recordings in which Kueue tells, by chance, of another one of several pod sets or requests that
// can't be admitted than lint, or of one more. The rule is that of what only Kueue tells.
var toldOfAnother = map[string]string{
	"podsets-flavors-and-labels/v0.19.0 w2-no-tol": "GQ313", // pod set work, not lead
	"random-devices-4/v0.19.0 job-j24-2208b":       "GQ205", // the devices met first lack a key, and others would do
	"random-devices-4/v0.19.2 job-j24-2208b":       "GQ205",
	"random-devices-4/v0.19.0 job-j16-aad7a":       "GQ205",
	"random-devices-4/v0.19.2 job-j16-aad7a":       "GQ205",
}

// notTheManifests are the words of refusals that come from what is in use, from people or from checks.
var notTheManifests = []string{
	"insufficient unused quota", "Preempted to accommodate", "waiting for all admitted workloads to be in PodsReady condition",
	"AdmissionCheck in Rejected state", "no longer fits after processing another workload", "an equivalent workload recently failed",
	"The workload is deactivated",
}

// notInTheManifests are the rejected objects that the manifests don't tell of.
var notInTheManifests = map[string]string{
	"SparkApplication/none": "the schema of the Spark operator is not part of the program",
	"Scale/store":           "the request to scale is no manifest",
}

func eachScenario(t *testing.T, check func(t *testing.T, result *lint.Result, d decision)) {
	var dirs []string
	for _, corpus := range corpora {
		found, err := filepath.Glob(filepath.Join(corpus, "*"))
		if err != nil || len(found) == 0 {
			t.Fatal("no scenarios", err)
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		recordings, err := filepath.Glob(filepath.Join(dir, "observed-*.json"))
		if err != nil || len(recordings) == 0 {
			t.Errorf("%s: no recording: %v", dir, err)
		}
		for _, recording := range recordings {
			version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(recording), "observed-"), ".json")
			t.Run(filepath.Base(dir)+"/"+version, func(t *testing.T) {
				text, err := os.ReadFile(recording)
				if err != nil {
					t.Fatal(err)
				}
				var d decision
				if err := json.Unmarshal(text, &d); err != nil {
					t.Fatal(err)
				}
				options := config.Options{Version: version, FeatureGates: d.FeatureGates}
				result, _ := lintedFiles(t, []string{filepath.Join(dir, "scenario.yaml")}, options, lint.KubernetesVersion{Major: 1, Minor: 36})
				check(t, result, d)
			})
		}
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
		if why := notInManifests[filepath.Base(filepath.Dir(t.Name()))]; why != "" {
			return
		}
		for _, w := range d.Workloads {
			for _, c := range w.Conditions {
				if c.Type != "QuotaReserved" || c.Status != "False" {
					continue
				}
				in := func(words string) bool { return strings.Contains(c.Message, words) }
				if slices.ContainsFunc(notTheManifests, in) {
					continue
				}
				known := false
				for _, r := range reasons {
					if !in(r.words) {
						continue
					}
					known = true
					if toldOfAnother[scenarioOf(t)+" "+w.Workload] == r.rules[0] {
						continue
					}
					if !slices.ContainsFunc(result.Findings, func(f lint.Finding) bool {
						return slices.Contains(r.rules, f.Rule.ID) && isAbout(f, w.Owner, w.Workload)
					}) {
						t.Errorf("%s (%s): no finding %v for %q", w.Owner, w.Workload, r.rules, c.Message)
					}
				}
				if !known {
					t.Errorf("%s (%s): no rule is known for %q", w.Owner, w.Workload, c.Message)
				}
			}
		}
	})
}

// TestRejectedObjectsAreFound: what the API server or a webhook refused has an error.
func TestRejectedObjectsAreFound(t *testing.T) {
	rejected := 0
	eachScenario(t, func(t *testing.T, result *lint.Result, d decision) {
		for _, r := range d.Rejected {
			if rejected++; notInTheManifests[r.Kind+"/"+r.Name] != "" {
				continue
			}
			if !slices.ContainsFunc(result.Findings, func(f lint.Finding) bool {
				return f.Severity == lint.Error && f.At.Object.Kind == r.Kind && f.At.Object.Name == r.Name
			}) {
				t.Errorf("%s/%s: no error for %q", r.Kind, r.Name, r.Message)
			}
		}
	})
	if rejected == 0 {
		t.Error("no scenario holds a rejected object")
	}
}

// scenarioOf is the scenario and the version of a test.
func scenarioOf(t *testing.T) string {
	_, name, _ := strings.Cut(t.Name(), "/")
	return name
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
