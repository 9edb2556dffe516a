package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/test/bench"
	"github.com/gpu-quota/kubectl-gpu-quota/test/fleet"
)

func export(tb testing.TB, size fleet.Size) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := fleet.Write(&b, size); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestYardstickDecodesEveryObject keeps the yardstick honest: it must do all of the decoding.
func TestYardstickDecodesEveryObject(t *testing.T) {
	size := fleet.Size{Nodes: 2, GPUs: 2, Workloads: 5}
	objects, err := bench.Decode(export(t, size))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, o := range objects {
		kinds[fmt.Sprintf("%T", o)]++
	}
	for kind, want := range map[string]int{
		"*v1.ResourceSlice": size.Nodes * (1 + size.GPUs),
		"*v1.Job":           size.Workloads,
		"*v1beta2.Workload": size.Workloads,
		"*v1.ConfigMap":     1,
	} {
		if kinds[kind] != want {
			t.Errorf("%d objects of type %s, want %d", kinds[kind], kind, want)
		}
	}
}

func TestYardstickRefusesKindsItWouldNotDecode(t *testing.T) {
	_, err := bench.Decode([]byte(`{"items":[{"kind":"Pod"}]}`))
	if err == nil {
		t.Error("Decode skipped a kind it has no type for")
	}
}

// TestEveryWorkloadIsChargedAsExpected keeps the benchmarks below honest, and compares thousands of
// charges with what the fleet was made to cost.
func TestEveryWorkloadIsChargedAsExpected(t *testing.T) {
	for name, size := range map[string]fleet.Size{
		"one GPU":                       {Nodes: 1, GPUs: 1, Workloads: 3, Seed: 1},
		"the measured fleet":            fleet.Small,
		"more workloads than the quota": {Nodes: 4, GPUs: 8, Workloads: 2000, Seed: 5},
	} {
		t.Run(name, func(t *testing.T) {
			snap, err := bench.Load(file(t, size))
			if err != nil {
				t.Fatal(err)
			}
			charges, err := bench.Charges(snap)
			if err != nil {
				t.Fatal(err)
			}
			got, want := map[string]int64{}, map[string]int64{}
			for _, c := range charges {
				if c.Verdict == charge.Charged {
					got[c.Workload.Namespace+"/"+c.Workload.OwnerRef.Name] = c.Total["gpu.memory"]
				}
			}
			for _, c := range fleet.Expected(size) {
				want[c.Namespace+"/"+c.Job] = c.GPUMemory
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("gpu.memory (-want +got):\n%s", diff)
			}
		})
	}
}

func file(tb testing.TB, size fleet.Size) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "export.json")
	if err := os.WriteFile(path, export(tb, size), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func BenchmarkBareDecode(b *testing.B) {
	input := export(b, fleet.Small)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bench.Decode(input); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCharge reads and charges the same export: `charge` without its printing.
func BenchmarkCharge(b *testing.B) {
	path := file(b, fleet.Small)
	b.ReportAllocs()
	for b.Loop() {
		snap, err := bench.Load(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := bench.Charges(snap); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChargingAlone charges workloads of a snapshot that was read before.
func BenchmarkChargingAlone(b *testing.B) {
	snap, err := bench.Load(file(b, fleet.Small))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bench.Charges(snap); err != nil {
			b.Fatal(err)
		}
	}
}

// TestChargingChangesNothing: equal parts of objects are shared, so that a change of one would change many.
func TestChargingChangesNothing(t *testing.T) {
	files, err := filepath.Glob("../../testdata/golden/scenarios/*/dump.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, path := range append(files, file(t, fleet.Size{Nodes: 4, GPUs: 8, Workloads: 200})) {
		before, err := bench.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		after, err := bench.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bench.Charges(after); err != nil {
			t.Logf("%s: %v", path, err) // dumps without workloads
		}
		for _, k := range cluster.Kinds() {
			for i, o := range after.List(k.GroupKind) {
				if !equality.Semantic.DeepEqual(before.List(k.GroupKind)[i].API(), o.API()) {
					t.Errorf("%s: %s was changed", path, o.Ref)
				}
			}
		}
	}
}

func TestBothExportsHoldTheSame(t *testing.T) {
	size := fleet.Size{Nodes: 2, GPUs: 2, Workloads: 20}
	var text bytes.Buffer
	if err := fleet.WriteYAML(&text, size); err != nil {
		t.Fatal(err)
	}
	got, err := bench.DecodeYAML(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want, err := bench.Decode(export(t, size))
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != len(got) || len(want) < size.Workloads {
		t.Fatalf("%d objects as JSON, %d as YAML", len(want), len(got))
	}
	for i := range want {
		if !equality.Semantic.DeepEqual(want[i], got[i]) {
			t.Errorf("item %d: %+v as JSON, %+v as YAML", i, want[i], got[i])
		}
	}
}
