// Package queueload makes exports of clusters with many queues and many workloads that wait, to measure with.
//
// In: a [Load]. Out: the JSON that `kubectl get … -A -o json` would print for it. The same Load gives the same bytes.
package queueload

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Load is a cluster to decide about: queues in cohorts, with two flavors each, and workloads of one or two pod sets.
type Load struct {
	Queues, Cohorts            int
	Pending, Running, Finished int
	// Distinct gives every pending workload requests of its own, so that the failure of one tells nothing of another.
	Distinct bool
	// Preempting: half of the pending workloads are of a higher priority than those that run, and policies allow
	// preemption.
	Preempting bool
	Fair       bool
	// Nested puts pairs of cohorts below a common one.
	Nested bool
	// Full leaves no GPU free: every pending workload waits for one that runs.
	Full bool
	// Newer: policies let workloads preempt those of their priority that were queued later, as some of those that run
	// were: every third that waits is as old as they are.
	Newer bool
}

// Promised is the cluster of the promise: 10,000 pending workloads on 200 queues in 8 cohorts.
var Promised = Load{Queues: 200, Cohorts: 8, Pending: 10000, Running: 800}

// Export is the load as `kubectl get -o json` prints it.
func (l Load) Export() ([]byte, error) {
	items := []any{l.config(),
		&corev1.Namespace{TypeMeta: typeMeta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "team"}},
		map[string]any{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
			"metadata": map[string]any{"name": "gpu"}, "spec": map[string]any{}}}
	for _, f := range []string{"new", "old"} {
		items = append(items,
			&kueue.ResourceFlavor{TypeMeta: typeMeta(kueueVersion, "ResourceFlavor"),
				ObjectMeta: metav1.ObjectMeta{Name: f}})
	}
	for c := range l.Cohorts {
		parent := ""
		if l.Nested {
			parent = fmt.Sprintf("above-%d", c/2)
		}
		items = append(items,
			&kueue.Cohort{TypeMeta: typeMeta(kueueVersion, "Cohort"),
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cohort-%d", c)},
				Spec:       kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}})
	}
	for q := range l.Queues {
		items = append(items, l.queue(q), &kueue.LocalQueue{TypeMeta: typeMeta(kueueVersion, "LocalQueue"),
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%03d", q),
				Namespace: "team"}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(fmt.Sprintf("q%03d", q))}})
	}
	for i := range l.Finished + l.Running + l.Pending {
		items = append(items, l.workload(i))
	}
	return json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

const kueueVersion = "kueue.x-k8s.io/v1beta2"

func typeMeta(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

func (l Load) config() any {
	c := map[string]any{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
	if l.Fair {
		c["fairSharing"] = map[string]any{"preemptionStrategies": []string{"LessThanOrEqualToFinalShare",
			"LessThanInitialShare"}}
	}
	return c
}

func (l Load) queue(q int) *kueue.ClusterQueue {
	out := &kueue.ClusterQueue{TypeMeta: typeMeta(kueueVersion, "ClusterQueue"),
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%03d", q)}}
	out.Spec.CohortName = kueue.CohortReference(fmt.Sprintf("cohort-%d", q%l.Cohorts))
	out.Spec.NamespaceSelector = &metav1.LabelSelector{}
	if l.Preempting {
		out.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority,
			ReclaimWithinCohort: kueue.PreemptionPolicyAny}
	}
	if l.Newer {
		newer := kueue.PreemptionPolicyLowerOrNewerEqualPriority
		out.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: newer, ReclaimWithinCohort: newer}
	}
	group := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{"cpu", "nvidia.com/gpu"}}
	for f, name := range []string{"new", "old"} {
		gpus := int64(16 + 8*f)
		if l.Full {
			gpus = l.held(q) * int64(1-f)
		}
		group.Flavors = append(group.Flavors,
			kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(name), Resources: []kueue.ResourceQuota{
				{Name: "cpu", NominalQuota: resource.MustParse("400")},
				{Name: "nvidia.com/gpu", NominalQuota: *resource.NewQuantity(gpus, resource.DecimalSI)},
			}})
	}
	out.Spec.ResourceGroups = []kueue.ResourceGroup{group}
	return out
}

// held counts the GPUs that run in a queue.
func (l Load) held(q int) int64 {
	var n int64
	for i := l.Finished; i < l.Finished+l.Running; i++ {
		if i%l.Queues == q {
			n += l.gpus(i)
		}
	}
	return n
}

// gpus that workload number i asks for.
func (l Load) gpus(i int) int64 { return int64(1 + i/l.Queues%4*2) }

// workload number i: the finished come first, then those that run, then those that wait.
func (l Load) workload(i int) *kueue.Workload {
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	q := fmt.Sprintf("q%03d", i%l.Queues)
	w := &kueue.Workload{TypeMeta: typeMeta(kueueVersion, "Workload"), ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: fmt.Sprintf("w%06d",
			i), UID: types.UID(fmt.Sprintf("uid-%06d",
			i)), CreationTimestamp: metav1.NewTime(began.Add(time.Duration(i) * time.Second)),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: fmt.Sprintf("job-%06d", i),
			UID: types.UID(fmt.Sprintf("job-%06d", i)), Controller: new(true)}},
	}}
	w.Spec.QueueName, w.Spec.Active, w.Spec.Priority = kueue.LocalQueueName(q), new(true), new(int32(0))
	gpus, milli := l.gpus(i), int64(1000)
	waits := i >= l.Finished+l.Running
	if waits && l.Distinct {
		milli += int64(i)
	}
	if waits && l.Newer && i%3 == 0 {
		w.CreationTimestamp = metav1.NewTime(began.Add(time.Duration(l.Finished+i%max(1, l.Running)) * time.Second))
	}
	if waits && l.Preempting {
		*w.Spec.Priority = int32(i / l.Queues % 2 * 100)
	}
	w.Spec.PodSets = []kueue.PodSet{podSetOf("main", 1, milli, gpus)}
	if i%5 == 0 {
		w.Spec.PodSets = append(w.Spec.PodSets, podSetOf("driver", 1, 500, 0))
	}
	if !waits {
		l.admit(w, q, gpus)
	}
	if i < l.Finished {
		w.Status.Conditions = append(w.Status.Conditions, condition(kueue.WorkloadFinished, began))
	}
	return w
}

func podSetOf(name string, count int32, milli, gpus int64) kueue.PodSet {
	requests := corev1.ResourceList{"cpu": *resource.NewMilliQuantity(milli, resource.DecimalSI)}
	if gpus > 0 {
		requests["nvidia.com/gpu"] = *resource.NewQuantity(gpus, resource.DecimalSI)
	}
	return kueue.PodSet{Name: kueue.PodSetReference(name), Count: count,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c",
				Resources: corev1.ResourceRequirements{Requests: requests}}}}}}
}

func (l Load) admit(w *kueue.Workload, queue string, gpus int64) {
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue)}
	for i := range w.Spec.PodSets {
		requests := w.Spec.PodSets[i].Template.Spec.Containers[0].Resources.Requests
		a := kueue.PodSetAssignment{Name: w.Spec.PodSets[i].Name, Count: new(int32(1)),
			Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: requests}
		for name := range requests {
			a.Flavors[name] = "new"
		}
		w.Status.Admission.PodSetAssignments = append(w.Status.Admission.PodSetAssignments, a)
	}
	at := w.CreationTimestamp.Time
	w.Status.Conditions = []metav1.Condition{condition(kueue.WorkloadQuotaReserved, at),
		condition(kueue.WorkloadAdmitted, at)}
}

func condition(name string, at time.Time) metav1.Condition {
	return metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: name,
		LastTransitionTime: metav1.NewTime(at)}
}
