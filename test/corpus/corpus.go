// Package corpus reads the scenarios recorded from running Kueue: what the manager of each version decided, and the
// cluster it left behind.
//
// In: testdata/golden and testdata/recorded. Out: an [Observation] per scenario and version, and the layers up to the
// charges over its dump.
package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Observation is what a running Kueue of one version made of a scenario.
type Observation struct {
	// Scenario is its name and Dir its directory.
	Scenario, Dir string `json:"-"`
	// Replayable: the dump alone tells the whole story.
	Replayable bool `json:"-"`
	// Golden: it is of the corpus handed to the project, not one of its own recordings.
	Golden bool `json:"-"`

	Kueue        string
	FeatureGates map[string]bool
	Workloads    []Workload
}

// Workload is one observed workload.
type Workload struct {
	Namespace, Workload, Owner string
	Index                      *int
	Active                     bool
	Admission                  *struct {
		ClusterQueue      string
		PodSetAssignments []PodSet
	}
	Conditions      []Condition
	AdmissionChecks []struct{ Name, State string }
}

// PodSet is one pod set's part of an admission.
type PodSet struct {
	Name          string
	Count         int32
	Flavors       map[corev1.ResourceName]string
	ResourceUsage map[corev1.ResourceName]resource.Quantity
}

// Condition of a Workload.
type Condition struct{ Type, Status, Reason, Message string }

// Condition finds a condition by type; nil when it is not there.
func (w Workload) Condition(name string) *Condition {
	for i := range w.Conditions {
		if w.Conditions[i].Type == name {
			return &w.Conditions[i]
		}
	}
	return nil
}

// True tells that a condition is there and true.
func (w Workload) True(name string) bool {
	c := w.Condition(name)
	return c != nil && c.Status == "True"
}

// String names the workload and its owner.
func (w Workload) String() string { return w.Owner + " (" + w.Workload + ")" }

// Is tells that the observed workload is this one: of the same name or, where the name was made by the recording, of
// the same owner and replica.
func (w Workload) Is(o *workload.Workload) bool {
	if o.Namespace != w.Namespace {
		return false
	}
	return o.Name == w.Workload || w.Owner != "" && o.OwnerRef.Kind+"/"+o.OwnerRef.Name == w.Owner &&
		(w.Index == nil || o.Index < 0 || *w.Index == o.Index)
}

// Each runs a subtest for every scenario and version under the root of the repository.
func Each(t *testing.T, root string, run func(*testing.T, Observation)) {
	t.Helper()
	index := struct {
		Replayable bool
	}{}
	for _, of := range []string{"golden", "recorded"} {
		base := filepath.Join(root, "testdata", of)
		files, err := filepath.Glob(base + "/scenarios/*/observed-*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no scenarios in %s: %v", base, err)
		}
		replayable := map[string]bool{}
		if data, err := os.ReadFile(base + "/index.json"); err == nil {
			entries := map[string]json.RawMessage{}
			if err := json.Unmarshal(data, &entries); err != nil {
				t.Fatal(err)
			}
			for name, raw := range entries {
				index.Replayable = false
				if json.Unmarshal(raw, &index) == nil {
					replayable[name] = index.Replayable
				}
			}
		}
		for _, f := range files {
			dir := filepath.Dir(f)
			scenario := filepath.Base(dir)
			version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "observed-"), ".json")
			t.Run(scenario+"/"+version, func(t *testing.T) {
				run(t, read(t, f,
					Observation{Scenario: scenario, Dir: dir, Replayable: replayable[scenario],
						Golden: of == "golden"}))
			})
		}
	}
}

func read(t *testing.T, file string, o Observation) Observation {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// Dump is the bytes of the scenario's dump.
func (o Observation) Dump(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(o.Dir, "dump.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Layers are the layers of the program up to the charges.
type Layers struct {
	Snapshot *cluster.Snapshot
	Config   *config.Config
	Engine   *charge.Engine
	Charges  []*charge.Charge
}

// Load runs the layers over the bytes of one dump.
func (o Observation) Load(t *testing.T, data []byte) Layers {
	t.Helper()
	l, err := Load(o.Scenario+".yaml", data, config.Options{Version: o.Kueue, FeatureGates: o.FeatureGates})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Snapshot.Problems {
		t.Errorf("problem: %s", p)
	}
	return l
}

// Load runs the layers over the bytes of one file.
func Load(name string, data []byte, options config.Options) (Layers, error) {
	snap, err := cluster.FromBytes(context.Background(), name, data)
	if err != nil {
		return Layers{}, err
	}
	conf, err := config.Resolve(snap, options)
	if err != nil {
		return Layers{}, err
	}
	return LayersOf(snap, conf), nil
}

// LayersOf runs the layers over a snapshot.
func LayersOf(snap *cluster.Snapshot, conf *config.Config) Layers {
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap, selector.Of(conf.Behavior)))
	return Layers{snap, conf, engine, engine.Charges(workload.Find(snap, conf, workload.Options{}))}
}

// Without cuts objects out of a dump, by their position in it. The count of objects is returned as well.
func Without(data []byte, cut func(position int, kind, namespace, name string) bool) (out []byte, objects int,
	err error) {
	list := struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}{}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, 0, err
	}
	objects = len(list.Items)
	var kept []json.RawMessage
	for i, item := range list.Items {
		var o struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := json.Unmarshal(item, &o); err != nil {
			return nil, 0, err
		}
		if !cut(i, o.Kind, o.Metadata.Namespace, o.Metadata.Name) {
			kept = append(kept, item)
		}
	}
	list.Items = kept
	out, err = json.Marshal(list)
	return out, objects, err
}

// WithoutKinds cuts all documents of some kinds out of a YAML file.
func WithoutKinds(data []byte, kinds ...string) []byte {
	var kept [][]byte
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		var o struct{ Kind string }
		if err := yaml.Unmarshal(document, &o); err == nil && slices.Contains(kinds, o.Kind) {
			continue
		}
		kept = append(kept, document)
	}
	return bytes.Join(kept, []byte("\n---\n"))
}

// JobsAlone begins a cluster written by hand: the configuration of a Kueue that manages Jobs.
const JobsAlone = `
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    integrations: {frameworks: [batch/job]}
---
`
