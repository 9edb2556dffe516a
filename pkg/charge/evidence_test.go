package charge_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// An export that lacks a kind must not turn an answer into a wrong claim: it stays what it was, or it
// becomes unknown. It is held for every dump of the corpus and every kind the charge may rest on, with
// the statuses of Workloads, which may tell what the kind would have told, and without.
func TestMissingKindsNeverMislead(t *testing.T) {
	t.Run("without statuses", func(t *testing.T) { neverMislead(t, withoutStatus) })
	t.Run("with statuses", func(t *testing.T) { neverMislead(t, func(*kueue.Workload) {}) })
}

func neverMislead(t *testing.T, strip func(*kueue.Workload)) {
	dumps, err := filepath.Glob(corpus + "/*/dump.yaml")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no golden corpus: %v", err)
	}
	for _, file := range dumps {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			full := answers(t, load(t, file, "", strip))
			for _, kind := range []string{"ResourceSlice", "DeviceClass", "ResourceClaimTemplate", "ConfigMap", "Namespace", "LocalQueue", "ClusterQueue"} {
				for name, got := range answers(t, load(t, file, kind, strip)) {
					want := full[name]
					if got.Verdict == charge.Unknown || want.Verdict == charge.Unknown {
						continue
					}
					if blocked(want) && (kind == "LocalQueue" || kind == "ClusterQueue" || kind == "Namespace") {
						continue // without them, nothing is said about what the queue takes
					}
					if got.Verdict != want.Verdict {
						t.Errorf("without %s: %s is %s, was %s", kind, name, got.Verdict, want.Verdict)
					}
					// Only a queue can cover pods.
					notPods := cmpopts.IgnoreMapEntries(func(name corev1.ResourceName, _ int64) bool {
						return name == corev1.ResourcePods && (kind == "ClusterQueue" || kind == "LocalQueue")
					})
					if diff := cmp.Diff(want.Total, got.Total, notPods); diff != "" {
						t.Errorf("without %s: %s charged otherwise (-with +without):\n%s", kind, name, diff)
					}
				}
			}
		})
	}
}

func blocked(c *charge.Charge) bool {
	for _, p := range c.Problems {
		if p.Code == charge.CodeQueueBlocked {
			return true
		}
	}
	return false
}

// load reads a dump without the objects of one kind.
func load(t *testing.T, file, without string, strip func(*kueue.Workload)) *cluster.Snapshot {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list unstructured.UnstructuredList
	if err := yaml.Unmarshal(data, &list.Object); err != nil {
		t.Fatal(err)
	}
	items, _, err := unstructured.NestedSlice(list.Object, "items")
	if err != nil {
		t.Fatal(err)
	}
	var kept []any
	for _, item := range items {
		if o := item.(map[string]any); o["kind"] != without {
			kept = append(kept, item)
		}
	}
	packed, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": kept})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := cluster.FromBytes(context.Background(), file, packed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range cluster.All[*kueue.Workload](snap, cluster.Workload) {
		strip(w)
	}
	return snap
}

func answers(t *testing.T, snap *cluster.Snapshot) map[string]*charge.Charge {
	t.Helper()
	cfg, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*charge.Charge{}
	for _, c := range charge.NewEngine(snap, cfg, device.NewInventory(snap, selector.Of(cfg.Behavior))).Charges(workload.Find(snap, cfg, workload.Options{})) {
		out[c.Workload.Namespace+"/"+c.Workload.Name+" "+c.Workload.OwnerRef.Kind+"/"+c.Workload.OwnerRef.Name] = c
	}
	return out
}
