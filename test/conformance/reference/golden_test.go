package reference

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

const golden = "../../../testdata/golden"

// observed is what a recording of a whole cluster says about its Workloads.
type observed struct {
	Workloads []struct {
		Namespace string `json:"namespace"`
		Name      string `json:"workload"`
		Admission *struct {
			PodSetAssignments []struct {
				Name          string            `json:"name"`
				Count         int32             `json:"count"`
				Flavors       map[string]string `json:"flavors"`
				ResourceUsage map[string]string `json:"resourceUsage"`
			} `json:"podSetAssignments"`
		} `json:"admission"`
		Conditions []struct {
			Type, Status, Reason, Message string
		} `json:"conditions"`
	} `json:"workloads"`
	// OtherWords holds, by namespace and Workload or owner, the reasons and messages of other recordings.
	OtherWords map[string][][2]string `json:"otherWords"`
}

// TestGoldenReplay holds the reference itself to the recordings of Kueue's manager in a real cluster: the
// stand-ins for the API server, the job controllers and time must not change an outcome.
func TestGoldenReplay(t *testing.T) {
	var index map[string]struct{ Replayable bool }
	readJSON(t, filepath.Join(golden, "index.json"), &index)
	names := make([]string, 0, len(index))
	for name, scenario := range index {
		if scenario.Replayable {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			recording := filepath.Join(golden, "scenarios", name, "observed-"+KueueVersion+".json")
			if _, err := os.Stat(recording); err != nil {
				t.Skip("this version's answer was not stable, so there is no recording")
			}
			var want observed
			readJSON(t, recording, &want)
			dump, err := os.ReadFile(filepath.Join(golden, "scenarios", name, "dump.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			cluster, err := objects.Decode(dump)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Run(cluster, Options{Replay: true})
			if errors.Is(err, errBlockAdmission) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diffGolden(&want, got) != "" {
				addSlowJobs(t, cluster, got)
			}
			if diff := diffGolden(&want, got); diff != "" {
				t.Errorf("end state (-recorded +reference):\n%s", diff)
			}
		})
	}
}

// addSlowJobs adds the messages that a preempted Workload may be left with when jobs stop one after the other;
// in the recordings they took a few milliseconds each.
func addSlowJobs(t *testing.T, cluster *objects.Cluster, got *outcome.Result) {
	t.Helper()
	for seed := uint64(1); seed <= 20; seed++ {
		slow, err := Run(cluster, Options{Replay: true, SlowJobs: seed})
		if err != nil {
			t.Fatal(err)
		}
		for i, wl := range slow.Workloads {
			got.Workloads[i].PossibleMessages = append(got.Workloads[i].PossibleMessages, wl.Message)
		}
	}
}

func diffGolden(want *observed, got *outcome.Result) string {
	type end struct {
		PodSets []outcome.PodSet
		Message string
	}
	wantEnd, gotEnd := map[string]end{}, map[string]end{}
	for _, wl := range want.Workloads {
		e := end{}
		if wl.Admission != nil {
			for _, ps := range wl.Admission.PodSetAssignments {
				e.PodSets = append(e.PodSets, outcome.PodSet{Name: ps.Name, Count: ps.Count, Flavors: ps.Flavors, Usage: ps.ResourceUsage})
			}
		}
		for _, condition := range wl.Conditions {
			if condition.Type == "QuotaReserved" && condition.Status == "False" {
				e.Message = withoutUIDs(condition.Message)
			}
		}
		wantEnd[lasting(wl.Namespace, wl.Name)] = e
	}
	for _, wl := range got.Workloads {
		e := end{PodSets: wl.PodSets, Message: withoutUIDs(wl.Message)}
		key := lasting(wl.Workload.Namespace, wl.Workload.Name)
		for _, words := range want.OtherWords[wl.Workload.String()] {
			if words[1] == e.Message {
				e.Message = wantEnd[key].Message
			}
		}
		for _, message := range wl.PossibleMessages {
			if recorded := wantEnd[key].Message; withoutUIDs(message) == recorded {
				e.Message = recorded
			}
		}
		gotEnd[key] = e
	}
	return cmp.Diff(wantEnd, gotEnd)
}

var (
	uid  = regexp.MustCompile(`UID: [-0-9a-f]+`)
	hash = regexp.MustCompile(`-[0-9a-f]{5}$`)
)

// withoutUIDs and lasting leave out what differs from one recording of the same scenario to the next.
func withoutUIDs(message string) string { return uid.ReplaceAllString(message, "UID: *") }

func lasting(namespace, name string) string { return namespace + "/" + hash.ReplaceAllString(name, "") }

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
