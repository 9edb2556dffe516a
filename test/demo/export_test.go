package demo_test

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueueconfig "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/demo"
)

// kinds of the demo cluster, for a strict decode.
var kinds = map[string]func() metav1.Object{
	"batch/v1 Job":                     func() metav1.Object { return new(batchv1.Job) },
	"apps/v1 Deployment":               func() metav1.Object { return new(appsv1.Deployment) },
	"v1 ConfigMap":                     func() metav1.Object { return new(corev1.ConfigMap) },
	"v1 Namespace":                     func() metav1.Object { return new(corev1.Namespace) },
	"v1 Pod":                           func() metav1.Object { return new(corev1.Pod) },
	"v1 Node":                          func() metav1.Object { return new(corev1.Node) },
	"resource.k8s.io/v1 DeviceClass":   func() metav1.Object { return new(resourceapi.DeviceClass) },
	"resource.k8s.io/v1 ResourceClaim": func() metav1.Object { return new(resourceapi.ResourceClaim) },
	"resource.k8s.io/v1 ResourceClaimTemplate": func() metav1.Object { return new(resourceapi.ResourceClaimTemplate) },
	"resource.k8s.io/v1 ResourceSlice":         func() metav1.Object { return new(resourceapi.ResourceSlice) },
	"kueue.x-k8s.io/v1beta2 ClusterQueue":      func() metav1.Object { return new(kueue.ClusterQueue) },
	"kueue.x-k8s.io/v1beta2 Cohort":            func() metav1.Object { return new(kueue.Cohort) },
	"kueue.x-k8s.io/v1beta2 LocalQueue":        func() metav1.Object { return new(kueue.LocalQueue) },
	"kueue.x-k8s.io/v1beta2 ResourceFlavor":    func() metav1.Object { return new(kueue.ResourceFlavor) },
	"kueue.x-k8s.io/v1beta2 Workload":          func() metav1.Object { return new(kueue.Workload) },
}

// objects decodes the export strictly: a misspelt field fails.
func objects(t *testing.T) []metav1.Object {
	t.Helper()
	var out []metav1.Object
	for _, document := range bytes.Split(demo.Export(), []byte("---\n")) {
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		var head metav1.TypeMeta
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if head.Kind == "DeviceTaintRuleList" { // that there are none is told, too
			var none resourceapi.DeviceTaintRuleList
			if err := yaml.UnmarshalStrict(document, &none); err != nil || len(none.Items) > 0 {
				t.Fatalf("%v in:\n%s", err, document)
			}
			continue
		}
		newObject, ok := kinds[head.APIVersion+" "+head.Kind]
		if !ok {
			t.Fatalf("the demo holds a %s %s, which this test does not know", head.APIVersion, head.Kind)
		}
		object := newObject()
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatalf("%s: %v", head.Kind, err)
		}
		out = append(out, object)
	}
	return out
}

func TestConfigurationIsOneKueueReads(t *testing.T) {
	for _, o := range objects(t) {
		cm, ok := o.(*corev1.ConfigMap)
		if !ok {
			continue
		}
		var c kueueconfig.Configuration
		if err := yaml.UnmarshalStrict([]byte(cm.Data["controller_manager_config.yaml"]), &c); err != nil {
			t.Error(err)
		}
		return
	}
	t.Error("the demo holds no ConfigMap")
}

// TestWorkloadsBelongToTheirJobs checks the links that Kueue makes: the owner, the label, and the hash in the name.
func TestWorkloadsBelongToTheirJobs(t *testing.T) {
	jobs := map[string]*batchv1.Job{}
	for _, o := range objects(t) {
		if j, ok := o.(*batchv1.Job); ok {
			jobs[j.Namespace+"/"+j.Name] = j
		}
	}
	count := 0
	for _, o := range objects(t) {
		w, ok := o.(*kueue.Workload)
		if !ok {
			continue
		}
		count++
		owner := w.OwnerReferences[0]
		job := jobs[w.Namespace+"/"+owner.Name]
		if job == nil {
			t.Errorf("Workload %s has no job", w.Name)
			continue
		}
		if job.UID != owner.UID || w.Labels["kueue.x-k8s.io/job-uid"] != string(job.UID) {
			t.Errorf("Workload %s names another UID than job %s has", w.Name, job.Name)
		}
		hash := fmt.Sprintf("%x", sha1.Sum([]byte(strings.Join([]string{"Job", "batch", job.Name, string(job.UID)}, "\n"))))
		if want := "job-" + job.Name + "-" + hash[:5]; w.Name != want {
			t.Errorf("Workload of job %s is called %s, Kueue would call it %s", job.Name, w.Name, want)
		}
		if diff := cmp.Diff(job.Spec.Template.Spec, w.Spec.PodSets[0].Template.Spec); diff != "" {
			t.Errorf("pods of job %s (-job +workload):\n%s", job.Name, diff)
		}
		if admitted := w.Status.Admission != nil; admitted == *job.Spec.Suspend {
			t.Errorf("job %s: admitted is %t and suspended %t", job.Name, admitted, *job.Spec.Suspend)
		}
	}
	if count != 9 || len(jobs) != 10 {
		t.Errorf("%d workloads and %d jobs, want 9 and 10", count, len(jobs))
	}
}

// TestQueuesHoldWhatTheirWorkloadsUse adds up the admitted Workloads of each ClusterQueue.
func TestQueuesHoldWhatTheirWorkloadsUse(t *testing.T) {
	used := map[string]int64{}
	key := func(queue, resource string) string { return queue + " " + resource }
	for _, o := range objects(t) {
		w, ok := o.(*kueue.Workload)
		if !ok || w.Status.Admission == nil {
			continue
		}
		for name, quantity := range w.Status.Admission.PodSetAssignments[0].ResourceUsage {
			used[key(string(w.Status.Admission.ClusterQueue), string(name))] += quantity.Value()
		}
	}
	reserved := map[string]int64{}
	for _, o := range objects(t) {
		q, ok := o.(*kueue.ClusterQueue)
		if !ok {
			continue
		}
		for _, r := range q.Status.FlavorsReservation[0].Resources {
			if n := r.Total.Value(); n != 0 {
				reserved[key(q.Name, string(r.Name))] = n
			}
		}
	}
	if diff := cmp.Diff(used, reserved); diff != "" {
		t.Errorf("quota in use (-workloads +queues):\n%s", diff)
	}
}

func TestPoolsAreCompleteAndTheirCountersKnown(t *testing.T) {
	published, wanted := map[string]int64{}, map[string]int64{}
	sets, consumed := map[string]bool{}, map[string]bool{}
	for _, o := range objects(t) {
		s, ok := o.(*resourceapi.ResourceSlice)
		if !ok {
			continue
		}
		pool := s.Spec.Pool.Name
		published[pool]++
		wanted[pool] = s.Spec.Pool.ResourceSliceCount
		for _, set := range s.Spec.SharedCounters {
			sets[pool+" "+set.Name] = true
		}
		for _, d := range s.Spec.Devices {
			for _, c := range d.ConsumesCounters {
				consumed[pool+" "+c.CounterSet] = true
			}
		}
	}
	if diff := cmp.Diff(wanted, published); diff != "" {
		t.Errorf("slices of each pool (-resourceSliceCount +published):\n%s", diff)
	}
	if diff := cmp.Diff(sets, consumed); diff != "" {
		t.Errorf("counter sets (-published +consumed):\n%s", diff)
	}
}
