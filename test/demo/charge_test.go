package demo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

// TestDemoIsChargedAsKueueReported compares the program's charge with the status that the demo's
// Workloads carry: the quota in use of an admitted one, the requests of one that waits, the message
// of one that is refused.
func TestDemoIsChargedAsKueueReported(t *testing.T) {
	charges := program.Charges(t, "--from", "demo")
	compared := map[string]int{}
	for _, o := range objects(t) {
		w, ok := o.(*kueue.Workload)
		if !ok {
			continue
		}
		job := w.Namespace + "/" + w.OwnerReferences[0].Name
		got := charges[job]
		switch reserved := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); {
		case w.Status.Admission != nil:
			compared["admitted"]++
			want := quantities(w.Status.Admission.PodSetAssignments[0].ResourceUsage)
			if diff := cmp.Diff(want, got.Total); diff != "" {
				t.Errorf("%s, admitted (-in use +charged):\n%s", job, diff)
			}
			if diff := cmp.Diff(want, got.Published); diff != "" {
				t.Errorf("%s, published (-in use +published):\n%s", job, diff)
			}
		case len(w.Status.ResourceRequests) > 0:
			compared["waiting"]++
			if diff := cmp.Diff(quantities(w.Status.ResourceRequests[0].Resources), got.Total); diff != "" {
				t.Errorf("%s, waiting (-requested +charged):\n%s", job, diff)
			}
		default:
			compared["refused"]++
			if got.Verdict != "Inadmissible" || len(got.Problems) != 1 || got.Problems[0].KueueMessage != reserved.Message {
				t.Errorf("%s: verdict %s, problems %+v; want refused with %q", job, got.Verdict, got.Problems, reserved.Message)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"admitted": 5, "waiting": 3, "refused": 1}, compared); diff != "" {
		t.Errorf("workloads of each state (-want +got):\n%s", diff)
	}
}

func TestDemoShowsEveryPath(t *testing.T) {
	charges := program.Charges(t, "--from", "demo")
	for job, want := range map[string]struct{ resource, method, perPod string }{
		"team-a/tune":     {"gpu.memory", "Counter", "4864Mi"},
		"team-a/notebook": {"gpu.memory", "Counter", "40320Mi"},
		"team-b/pretrain": {"gpu.memory", "Counter", "40320Mi"},
		"team-a/eval":     {"nvidia.com/gpu", "ExtendedResource", "1"},
		"team-b/train":    {"nvidia.com/gpu", "DeviceCount", "1"},
		"team-a/serve":    {"nvidia.com/mig-1g.5gb", "Requests", "2"},
	} {
		found := false
		for _, podSet := range charges[job].PodSets {
			for _, line := range podSet.Charges {
				if line.Resource == want.resource {
					found = true
					if line.Method != want.method || line.PerPod != want.perPod {
						t.Errorf("%s: %s is charged %s by %s, want %s by %s", job, line.Resource, line.PerPod, line.Method, want.perPod, want.method)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s is not charged %s: %+v", job, want.resource, charges[job])
		}
	}
	if got := charges["team-b/adhoc"].Verdict; got != "Unmanaged" {
		t.Errorf("team-b/adhoc has no queue: verdict %q, want Unmanaged", got)
	}
}

// TestWalkthroughs charges each walkthrough from its manifests alone: no defaults, no statuses, no Workloads.
func TestWalkthroughs(t *testing.T) {
	ordinary := func(resource, quantity string) map[string]string {
		return map[string]string{"cpu": "1", "memory": "2Gi", resource: quantity}
	}
	tests := map[string]struct {
		directory string
		job       string
		want      map[string]string
		method    string
	}{
		"a claim template is charged by device count":     {"claim-template", "claim", ordinary("nvidia.com/gpu", "1"), "DeviceCount"},
		"an extended resource is charged once, not twice": {"extended-resource", "extended", ordinary("nvidia.com/gpu", "1"), "ExtendedResource"},
		"a partition is charged its share of the counter": {"mig-counter", "partition", ordinary("gpu.memory", "4864Mi"), "Counter"},
		"a whole GPU is charged all of the counter":       {"mig-counter", "whole", ordinary("gpu.memory", "40320Mi"), "Counter"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := program.Charges(t, "--from", filepath.Join(program.Root(t), "testdata", "walkthroughs", tc.directory))["team/"+tc.job]
			if got.Verdict != "Charged" {
				t.Errorf("verdict %s, want Charged; problems %+v", got.Verdict, got.Problems)
			}
			if diff := cmp.Diff(tc.want, got.Total); diff != "" {
				t.Errorf("total (-want +got):\n%s", diff)
			}
			methods := map[string]string{"cpu": "Requests", "memory": "Requests"}
			for resource := range tc.want {
				if resource != "cpu" && resource != "memory" {
					methods[resource] = tc.method
				}
			}
			if diff := cmp.Diff(methods, got.Methods()); diff != "" {
				t.Errorf("methods (-want +got):\n%s", diff)
			}
		})
	}
}

func quantities(list corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, quantity := range list {
		out[string(name)] = quantity.String()
	}
	return out
}
