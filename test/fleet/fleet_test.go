package fleet_test

import (
	"bytes"
	"encoding/json"
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/test/fleet"
)

func write(t *testing.T, s fleet.Size) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := fleet.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func items(t *testing.T, export []byte) map[string][]json.RawMessage {
	t.Helper()
	var l struct {
		Kind  string
		Items []json.RawMessage
	}
	if err := json.Unmarshal(export, &l); err != nil {
		t.Fatal(err)
	}
	if l.Kind != "List" {
		t.Fatalf("kind = %q, want List", l.Kind)
	}
	out := map[string][]json.RawMessage{}
	for _, item := range l.Items {
		var head struct{ Kind string }
		if err := json.Unmarshal(item, &head); err != nil {
			t.Fatal(err)
		}
		out[head.Kind] = append(out[head.Kind], item)
	}
	return out
}

func TestSameSizeSameBytes(t *testing.T) {
	size := fleet.Size{Nodes: 3, GPUs: 2, Workloads: 20, Seed: 7}
	if !bytes.Equal(write(t, size), write(t, size)) {
		t.Error("two exports of one size differ")
	}
	other := size
	other.Seed++
	if bytes.Equal(write(t, size), write(t, other)) {
		t.Error("another seed gives the same export")
	}
}

func TestSmallFleetIsAsLargeAsTheMeasuredOne(t *testing.T) {
	const want, tolerance = 5.6e6, 0.15
	got := float64(len(write(t, fleet.Small)))
	if got < want*(1-tolerance) || got > want*(1+tolerance) {
		t.Errorf("export of %s is %.1f MB, want %.1f MB ± 15 %%", fleet.Small, got/1e6, want/1e6)
	}
}

func TestPoolsAreComplete(t *testing.T) {
	size := fleet.Size{Nodes: 2, GPUs: 3, Workloads: 1}
	slices, want, devices := map[string]int64{}, map[string]int64{}, 0
	for _, raw := range items(t, write(t, size))["ResourceSlice"] {
		var s resourceapi.ResourceSlice
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		slices[s.Spec.Pool.Name]++
		want[s.Spec.Pool.Name] = s.Spec.Pool.ResourceSliceCount
		devices += len(s.Spec.Devices)
		if len(s.Spec.Devices) > 0 && len(s.Spec.SharedCounters) > 0 {
			t.Errorf("slice %s has both devices and counters", s.Name)
		}
		if len(s.Spec.Devices) > resourceapi.ResourceSliceMaxDevicesWithAdvancedFeatures {
			t.Errorf("slice %s has %d devices with counters", s.Name, len(s.Spec.Devices))
		}
	}
	if diff := cmp.Diff(want, slices); diff != "" {
		t.Errorf("slices of each pool (-resourceSliceCount +published):\n%s", diff)
	}
	if devices != size.Devices() {
		t.Errorf("%d devices, want %d", devices, size.Devices())
	}
}

// TestReservedQuotaIsTheExpectedCharge holds the two ways to state a charge against each other:
// the list of expectations, and what the admitted Workloads of the export say they use.
func TestReservedQuotaIsTheExpectedCharge(t *testing.T) {
	size := fleet.Size{Nodes: 4, GPUs: 8, Workloads: 60, Seed: 3} // large enough to run short of quota
	got := map[string]int64{}
	for _, raw := range items(t, write(t, size))["Workload"] {
		var w kueue.Workload
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatal(err)
		}
		if w.Status.Admission != nil {
			usage := w.Status.Admission.PodSetAssignments[0].ResourceUsage["gpu.memory"]
			got[w.Namespace+"/"+w.OwnerReferences[0].Name] = usage.Value()
		}
	}
	want := map[string]int64{}
	waiting := 0
	for _, c := range fleet.Expected(size) {
		if c.Reserved {
			want[c.Namespace+"/"+c.Job] = c.GPUMemory
		} else {
			waiting++
		}
	}
	if waiting == 0 || len(want) == 0 {
		t.Fatalf("%d workloads hold quota and %d wait, want some of both", len(want), waiting)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quota held (-expected +export):\n%s", diff)
	}
}

func TestSizeOutOfRange(t *testing.T) {
	for name, size := range map[string]fleet.Size{
		"no nodes":                  {Nodes: 0, GPUs: 1},
		"no GPUs":                   {Nodes: 1, GPUs: 0},
		"more GPUs than one slice":  {Nodes: 1, GPUs: 9},
		"fewer than zero workloads": {Nodes: 1, GPUs: 1, Workloads: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if err := fleet.Write(new(bytes.Buffer), size); err == nil {
				t.Error("Write gave no error")
			}
		})
	}
}
