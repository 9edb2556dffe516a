package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// writers is how many objects of a fleet are made at once.
const writers = 16

// aFleet is a control plane of its own that serves the Workloads and ResourceSlices of a GPU fleet, without Kueue
// running: nothing changes there.
func aFleet(t testing.TB, nodes, workloads int) *controlplane.ControlPlane {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fleet.json")
	generate := exec.Command("go", "run", "./test/fleet/cmd/fleetgen", "-nodes", strconv.Itoa(nodes), "-gpus", "8", "-workloads", strconv.Itoa(workloads), "-o", file)
	generate.Dir, generate.Stderr = root, os.Stderr
	if err := generate.Run(); err != nil {
		t.Fatalf("%s: %v", generate, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(content, &list); err != nil {
		t.Fatal(err)
	}
	cp := ownControlPlane(t, controlplane.Options{})
	ctx := short(t)
	if err := cp.InstallCRDs(ctx); err != nil {
		t.Fatal(err)
	}
	rest := list.Items[:0:0]
	for _, item := range list.Items {
		o := unstructured.Unstructured{Object: item}
		o.SetResourceVersion("") // it is another server's
		switch o.GetKind() {
		case "ConfigMap":
			configuration, _, _ := unstructured.NestedString(item, "data", "controller_manager_config.yaml")
			if err := cp.DescribeKueue(ctx, []byte(configuration)); err != nil {
				t.Fatal(err)
			}
		case "Namespace":
			create(t, cp, o)
		case "Job": // the Workloads stand for themselves
		default:
			rest = append(rest, item)
		}
	}
	createAll(t, cp, rest)
	return cp
}

// createAll makes objects in parallel.
func createAll(t testing.TB, cp *controlplane.ControlPlane, items []map[string]any) {
	t.Helper()
	queue := make(chan map[string]any)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for item := range queue {
				create(t, cp, unstructured.Unstructured{Object: item})
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	all.Wait()
}

// create makes an object and its status. It may be called from any goroutine.
func create(t testing.TB, cp *controlplane.ControlPlane, o unstructured.Unstructured) {
	r, err := cp.Resource(o.GetAPIVersion(), o.GetKind())
	if err != nil {
		t.Error(err)
		return
	}
	o.SetUID("")
	o.SetOwnerReferences(nil)
	target := r.Namespace(o.GetNamespace())
	made, err := target.Create(t.Context(), &o, metav1.CreateOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	if o.GetKind() != "Workload" && o.GetKind() != "ClusterQueue" || o.Object["status"] == nil {
		return
	}
	o.SetResourceVersion(made.GetResourceVersion())
	if _, err := target.UpdateStatus(t.Context(), &o, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
}
