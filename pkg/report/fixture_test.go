package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const gi = int64(1) << 30
const mi = int64(1) << 20

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// golden compares a screen with its file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// printed is a document in one format.
func printed(t *testing.T, d Document, format string, terminal Terminal) []byte {
	t.Helper()
	p, err := New(Options{Format: format, Terminal: terminal})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Print(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func conf() *config.Config {
	return &config.Config{
		Version: "v0.19.2", VersionSource: config.VersionFromImage, Gates: map[string]bool{"KueueDRAIntegration": true},
		Configuration: &configapi.Configuration{}, Found: true, From: "ConfigMap kueue-system/kueue-manager-config",
	}
}

func chargesOf(all ...*charge.Charge) *Charges {
	d := NewCharges(conf(), all)
	d.units = Units{charge.Formatter{Binary: func(n corev1.ResourceName) bool { return n == "gpu.memory" }}}
	return d
}

func explanationsOf(all ...*explain.Explanation) *Explanations {
	d := NewExplanations(conf(), all)
	d.units = Units{charge.Formatter{Binary: func(n corev1.ResourceName) bool { return n == "gpu.memory" }}}
	return d
}

func job(namespace, name string) *workload.Workload {
	ref := cluster.Ref{APIVersion: "batch/v1", Kind: "Job", Namespace: namespace, Name: name}
	record := &cluster.Object{Ref: ref, Meta: &metav1.ObjectMeta{Namespace: namespace, Name: name}, Origin: &source.Origin{File: "jobs.yaml", Line: 12}}
	return &workload.Workload{Owner: record, OwnerRef: ref, Namespace: namespace, Name: "job-" + name, Queue: "user-queue", Index: -1, State: workload.Managed, Active: true}
}

func cpu(count int64, milli int64) charge.Line {
	return charge.Line{Resource: "cpu", PerPod: milli, Total: milli * count, Method: charge.Requests, Derivation: []string{"container requests"}}
}

// partition is one MIG partition per pod, charged by a counter.
func partition(w *workload.Workload, count int64) charge.Line {
	return charge.Line{
		Resource: "gpu.memory", PerPod: 4864 * mi, Total: count * 4864 * mi, Method: charge.Counter,
		Derivation: []string{"claim gpu", "template gpu-partition", "class mig.nvidia.com", `counter "memory" of gpu.nvidia.com: max 4864Mi over 7 matching devices × 1`},
		Evidence:   []charge.Evidence{{Object: w.Owner, Path: "spec.template.spec.resourceClaims[0].resourceClaimTemplateName", Value: "gpu-partition"}},
	}
}

func train() *charge.Charge {
	w := job("team-a", "train")
	return &charge.Charge{
		Workload: w, ClusterQueue: "cluster-queue", Verdict: charge.Charged,
		PodSets: []charge.PodSet{{Name: "main", Count: 3, Lines: []charge.Line{cpu(3, 1000), partition(w, 3)}}},
		Total:   charge.Amounts{"cpu": 3000, "gpu.memory": 3 * 4864 * mi},
	}
}

func refused() *charge.Charge {
	w := job("team-a", "refused")
	return &charge.Charge{
		Workload: w, ClusterQueue: "cluster-queue", Verdict: charge.Inadmissible,
		PodSets: []charge.PodSet{{Name: "main", Count: 1, Lines: []charge.Line{cpu(1, 500)}}},
		Total:   charge.Amounts{"cpu": 500},
		Problems: []charge.Problem{{
			Code: "UnmappedDeviceClass", Message: "DeviceClass mig.nvidia.com is not mapped to a quota resource",
			KueueMessage: `spec.podSets[0].template.spec.resourceClaims[0].resourceClaimTemplateName: Not found: "DeviceClass mig.nvidia.com is not mapped in DRA configuration for podset main"`,
			Evidence:     []charge.Evidence{{Object: w.Owner, Path: "spec.template.spec.resourceClaims[0].resourceClaimTemplateName", Value: "slice"}},
		}},
	}
}

func unknown() *charge.Charge {
	return &charge.Charge{
		Workload: job("team-b", "unknown"), ClusterQueue: "cluster-queue", Verdict: charge.Unknown,
		PodSets: []charge.PodSet{{Name: "main", Count: 2, Lines: []charge.Line{cpu(2, 1000)}}},
		Total:   charge.Amounts{"cpu": 2000}, Missing: []string{"ResourceSlice"},
	}
}

func unmanaged() *charge.Charge {
	w := job("team-b", "free")
	w.Queue, w.State = "", workload.Unmanaged
	w.Reasons = []workload.Reason{{Code: "NoQueueName", Text: "It has no label kueue.x-k8s.io/queue-name.", Object: w.OwnerRef, Path: "metadata.labels"}}
	return &charge.Charge{Workload: w, Verdict: charge.Unmanaged}
}

// group is replica 1 of a LeaderWorkerSet: two pod sets.
func group() *charge.Charge {
	w := job("team-b", "serve")
	w.OwnerRef = cluster.Ref{APIVersion: "leaderworkerset.x-k8s.io/v1", Kind: "LeaderWorkerSet", Namespace: "team-b", Name: "serve"}
	w.Index = 1
	gpus := charge.Line{Resource: "nvidia.com/gpu", PerPod: 8, Total: 32, Method: charge.Requests, Derivation: []string{"container requests"}}
	return &charge.Charge{
		Workload: w, ClusterQueue: "cluster-queue", Verdict: charge.Charged,
		PodSets: []charge.PodSet{{Name: "leader", Count: 1, Lines: []charge.Line{cpu(1, 250)}}, {Name: "worker", Count: 4, Lines: []charge.Line{cpu(4, 2000), gpus}}},
		Total:   charge.Amounts{"cpu": 8250, "nvidia.com/gpu": 32},
	}
}

func everyVerdict() *Charges { return chargesOf(train(), refused(), unknown(), unmanaged(), group()) }

// waits gives a charge a Workload object that waits for quota.
func waits(c *charge.Charge) *charge.Charge {
	c.Workload.Object = &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Workload.Namespace, Name: c.Workload.Name},
		Status: kueue.WorkloadStatus{Conditions: []metav1.Condition{{
			Type: "QuotaReserved", Status: metav1.ConditionFalse, Reason: "Pending", LastTransitionTime: metav1.NewTime(noon),
			Message: "couldn't assign flavors to pod set main: insufficient unused quota for gpu.memory in flavor default-flavor, 5632Mi more needed",
		}}},
	}
	return c
}
