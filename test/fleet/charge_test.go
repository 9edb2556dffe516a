package fleet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/test/fleet"
	"github.com/gpu-quota/kubectl-gpu-quota/test/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

func TestEveryWorkloadIsChargedAsExpected(t *testing.T) {
	for name, size := range map[string]fleet.Size{
		"one GPU":                       {Nodes: 1, GPUs: 1, Workloads: 3, Seed: 1},
		"the measured fleet":            fleet.Small,
		"more workloads than the quota": {Nodes: 4, GPUs: 8, Workloads: 300, Seed: 5},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "export.json")
			if err := os.WriteFile(path, write(t, size), 0o600); err != nil {
				t.Fatal(err)
			}
			charges := program.Charges(t, "--from", path)
			got, want := map[string]string{}, map[string]string{}
			for _, c := range fleet.Expected(size) {
				job := c.Namespace + "/" + c.Job
				want[job] = "Charged " + resource.NewQuantity(c.GPUMemory, resource.BinarySI).String()
				got[job] = charges[job].Verdict + " " + charges[job].Total["gpu.memory"]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("gpu.memory (-want +got):\n%s", diff)
			}
			if len(charges) != size.Workloads {
				t.Errorf("%d workloads charged, want %d", len(charges), size.Workloads)
			}
		})
	}
}
