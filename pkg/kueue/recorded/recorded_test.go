package recorded_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
)

func amounts(cpu, gpu string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu), "nvidia.com/gpu": resource.MustParse(gpu)}
}

// admitted holds cpu and GPUs with a leader, and GPUs without a flavor for cpu with its workers, of which one has ended.
func admitted() *kueue.Workload {
	w := &kueue.Workload{}
	w.Status.Admission = &kueue.Admission{ClusterQueue: "cq", PodSetAssignments: []kueue.PodSetAssignment{
		{Name: "leader", Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"cpu": "a", "nvidia.com/gpu": "a"}, ResourceUsage: amounts("1", "1")},
		{Name: "workers", Count: ptr.To[int32](3), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"nvidia.com/gpu": "b"}, ResourceUsage: amounts("3", "6")},
	}}
	w.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: "workers", Count: 1}}
	return w
}

func texts(of map[recorded.FlavorResource]resource.Quantity) map[string]string {
	out := map[string]string{}
	for fr, q := range of {
		out[fr.Flavor+"/"+string(fr.Resource)] = q.String()
	}
	return out
}

func TestWhatAWorkloadHolds(t *testing.T) {
	w := admitted()
	want := map[string]string{"a/cpu": "1", "a/nvidia.com/gpu": "1", "b/nvidia.com/gpu": "6"} // no flavor for the workers' cpu
	if diff := cmp.Diff(want, texts(maps.Collect(recorded.Held(w)))); diff != "" {
		t.Error("held (-want +got):\n" + diff)
	}
	if cpu := recorded.Total(w)["cpu"]; cpu.String() != "4" {
		t.Errorf("charged %s cpu in all, want 4", cpu.String())
	}
	if n := recorded.Pods(w, "workers"); n == nil || *n != 3 {
		t.Errorf("the workers were admitted with %v pods, want 3", n)
	}
	if n := recorded.Pods(w, "leader"); n != nil {
		t.Errorf("the status does not tell the leader's pods, and %d are read", *n)
	}
	if n := recorded.Reclaimable(w)["workers"]; n != 1 {
		t.Errorf("%d workers have ended, want 1", n)
	}
}

func TestRequestsStandInBeforeAdmission(t *testing.T) {
	w := &kueue.Workload{}
	w.Status.ResourceRequests = []kueue.PodSetRequest{{Name: "main", Resources: amounts("2", "1")}}
	if cpu := recorded.Charged(w, "main")["cpu"]; cpu.String() != "2" {
		t.Errorf("requests %s cpu, want 2", cpu.String())
	}
	if recorded.HoldsQuota(w) || recorded.HoldsQuota(nil) || recorded.Total(w) != nil || len(maps.Collect(recorded.Held(w))) > 0 {
		t.Error("a workload that waits holds nothing")
	}
	if cpu := recorded.Charged(admitted(), "workers")["cpu"]; cpu.String() != "3" {
		t.Errorf("charged %s cpu, want 3", cpu.String())
	}
}

func TestWhatAQueueReports(t *testing.T) {
	q := &kueue.ClusterQueue{}
	if recorded.Reports(&cluster.Object{}, q) {
		t.Error("a status that was never written tells of no usage")
	}
	q.Status.FlavorsReservation = []kueue.FlavorUsage{{Name: "a", Resources: []kueue.ResourceUsage{{Name: "cpu", Total: resource.MustParse("5")}}}}
	if !recorded.Reports(&cluster.Object{}, q) || recorded.Reports(&cluster.Object{Laid: true}, q) {
		t.Error("a cluster's status tells of usage, and a manifest's does not")
	}
	if diff := cmp.Diff(map[string]string{"a/cpu": "5"}, texts(maps.Collect(recorded.Reserved(q)))); diff != "" {
		t.Error("reserved (-want +got):\n" + diff)
	}
	if got := maps.Collect(recorded.Admitted(q)); len(got) > 0 {
		t.Errorf("admitted %v, want nothing", got)
	}
}
