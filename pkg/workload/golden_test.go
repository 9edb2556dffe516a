package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// corpus holds what a running Kueue made of whole scenarios.
var corpus = []string{"../../testdata/golden/scenarios", "../../testdata/recorded/scenarios"}

// observation is what Kueue v0.19.2 made of one scenario.
type observation struct {
	Workloads           []observed
	JobsWithoutWorkload []string
	Rejected            []rejection
}

type rejection struct{ Kind, Name, Message string }

type observedCondition struct{ Type, Status, Reason string }

type observed struct {
	Namespace, Workload, Owner, Queue string
	Owners                            []string
	Index                             *int
	Priority                          int32
	Active                            bool
	PodSets                           []observedPodSet
	ReclaimablePods                   []observedPodSet
	Conditions                        []observedCondition
	Admission                         struct{ PodSetAssignments []struct{ Count int64 } }
}

type observedPodSet struct {
	Name     string
	Count    int32
	MinCount *int32
}

// told is a workload in words, for comparison.
type told struct {
	Owner, Queue string
	Priority     int32
	Active       bool
	PodSets      []string
}

func (o observed) told() told {
	t := told{Owner: o.Namespace + "/" + o.Owner, Queue: o.Queue, Priority: o.Priority, Active: o.Active}
	if o.Index != nil {
		t.Owner += fmt.Sprintf("[%d]", *o.Index)
	}
	for _, ps := range o.PodSets {
		reclaimable := int32(0)
		for _, r := range o.ReclaimablePods {
			if r.Name == ps.Name {
				reclaimable = r.Count
			}
		}
		t.PodSets = append(t.PodSets, tellPodSet(ps.Name, ps.Count, ps.MinCount, reclaimable))
	}
	return t
}

func tellWorkload(w *Workload) told {
	t := told{Owner: w.Namespace + "/", Queue: w.Queue, Priority: w.Priority, Active: w.Active}
	if !w.OwnerRef.IsZero() {
		t.Owner += w.OwnerRef.Kind + "/" + w.OwnerRef.Name
	}
	if w.Index >= 0 && w.OwnerRef.Kind == cluster.LeaderWorkerSet.Kind {
		t.Owner += fmt.Sprintf("[%d]", w.Index)
	}
	for _, ps := range w.PodSets {
		t.PodSets = append(t.PodSets, tellPodSet(ps.Name, ps.Count, ps.MinCount, ps.Reclaimable))
	}
	return t
}

func tellPodSet(name string, count int32, minCount *int32, reclaimable int32) string {
	s := fmt.Sprintf("%s×%d", name, count)
	if minCount != nil {
		s += fmt.Sprintf(" (at least %d)", *minCount)
	}
	if reclaimable > 0 {
		s += fmt.Sprintf(" (%d reclaimable)", reclaimable)
	}
	return s
}

// without are the jobs for which Kueue made no Workload, as namespace/Kind/name.
func (o observation) without() []string {
	var out []string
	for _, s := range o.JobsWithoutWorkload {
		out = append(out, jobName(s))
	}
	slices.Sort(out)
	return out
}

// jobName takes the name from the corpus's notation: "ns/Kind/name suspend=True", without the kind for a Job.
func jobName(s string) string {
	s, _, _ = strings.Cut(s, " ")
	if strings.Count(s, "/") == 1 {
		namespace, name, _ := strings.Cut(s, "/")
		s = namespace + "/Job/" + name
	}
	return s
}

func eachScenario(t *testing.T, pattern string, check func(*testing.T, string, observation)) {
	t.Helper()
	var files []string
	for _, dir := range corpus {
		found, err := filepath.Glob(filepath.Join(dir, pattern, "observed-v0.19.2.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no scenario %s in %s", pattern, corpus)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var o observation
			if err := json.Unmarshal(data, &o); err != nil {
				t.Fatal(err)
			}
			check(t, dir, o)
		})
	}
}

func findIn(t *testing.T, name string, data []byte) []*Workload {
	t.Helper()
	snap, err := cluster.FromBytes(context.Background(), name, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range snap.Problems {
		t.Errorf("%s", p)
	}
	return findAt(t, snap, "v0.19.2")
}

func findAt(t *testing.T, snap *cluster.Snapshot, version string) []*Workload {
	t.Helper()
	cfg, err := config.Resolve(snap, config.Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	return Find(snap, cfg, Options{})
}

func findWith(t *testing.T, data []byte, version string) []*Workload {
	t.Helper()
	snap, err := cluster.FromBytes(context.Background(), "manifest.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return findAt(t, snap, version)
}

// TestClusterDumps: from a dump of the cluster every Workload is found once, with its owner, and every job
// without one is known not to be managed.
func TestClusterDumps(t *testing.T) {
	eachScenario(t, "*", func(t *testing.T, dir string, o observation) {
		data, err := os.ReadFile(filepath.Join(dir, "dump.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got, want := map[string]told{}, map[string]told{}
		var without []string
		for _, w := range findIn(t, "dump.yaml", data) {
			if w.Object != nil {
				got[w.Namespace+"/"+w.Name] = tellWorkload(w)
				continue
			}
			if w.State == Managed || w.State == Undetermined {
				t.Errorf("%s has no Workload in the dump, so it is not %s: %v", w.OwnerRef, w.State, w.Reasons)
			}
			without = append(without, owners(w)...)
		}
		for _, w := range o.Workloads {
			want[orDefault(w.Namespace)+"/"+w.Workload] = w.named(orDefault(w.Namespace))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("workloads (-Kueue +found):\n%s", diff)
		}
		slices.Sort(without)
		if diff := cmp.Diff(o.without(), without); diff != "" {
			t.Errorf("jobs without workload (-Kueue +found):\n%s", diff)
		}
	})
}

func orDefault(ns string) string {
	if ns == "" {
		return "default"
	}
	return ns
}

func (o observed) named(namespace string) told {
	o.Namespace = namespace
	return o.told()
}

// owners are the jobs an entry without Workload stands for. The corpus leaves out the pods of a set.
func owners(w *Workload) []string {
	if w.State == Elsewhere && slices.ContainsFunc(w.Reasons, func(r Reason) bool { return r.Code == PartOfPodSet }) {
		return nil
	}
	if len(w.Members) == 0 {
		return []string{fmt.Sprintf("%s/%s/%s", w.Namespace, w.OwnerRef.Kind, w.OwnerRef.Name)}
	}
	var out []string
	for _, o := range w.Members {
		out = append(out, fmt.Sprintf("%s/%s/%s", w.Namespace, o.Ref.Kind, o.Ref.Name))
	}
	return out
}
