package generate

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

// admit gives the Workload quota in its queue: mostly where there is some, now and then more than there is,
// as after a quota was lowered. It says no when the queue has nothing for it.
func (w *world) admit(wl *kueue.Workload) bool {
	queue := w.queueOf(wl)
	if queue == nil || len(queue.Spec.ResourceGroups) == 0 {
		return false
	}
	wl.Spec.Active = ptr(true)
	admission := &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue.Name)}
	for i := range wl.Spec.PodSets {
		assignment := w.assign(queue, &wl.Spec.PodSets[i])
		if assignment == nil {
			return false
		}
		admission.PodSetAssignments = append(admission.PodSetAssignments, *assignment)
	}
	if !w.take(queue, admission) {
		return false
	}
	wl.Status.Admission = admission
	reserved := after(wl.CreationTimestamp, w.between(1, 3000))
	wl.Status.Conditions = []metav1.Condition{
		condition(kueue.WorkloadQuotaReserved, "QuotaReserved", "Quota reserved in ClusterQueue "+queue.Name, reserved),
		condition(kueue.WorkloadAdmitted, "Admitted", "The workload is admitted", reserved),
	}
	switch {
	case w.await(wl, queue):
	case w.chance(2):
		message := "Preempted to accommodate a workload (UID: 1, JobUID: 2) due to prioritization in the ClusterQueue"
		wl.Status.Conditions = append(wl.Status.Conditions,
			condition(kueue.WorkloadEvicted, kueue.WorkloadEvictedByPreemption, message, after(reserved, 60)),
			condition(kueue.WorkloadPreempted, kueue.InClusterQueueReason, message, after(reserved, 60)))
	case w.chance(3):
		wl.Status.Conditions = append(wl.Status.Conditions,
			condition(kueue.WorkloadFinished, "Succeeded", "Job finished successfully", after(reserved, 60)))
	case w.chance(3) && wl.Spec.PodSets[0].Count > 1:
		wl.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: wl.Spec.PodSets[0].Name, Count: 1}}
	}
	return true
}

// await leaves the Workload with the checks of its queue that its flavors call for, half of them still to be done.
func (w *world) await(wl *kueue.Workload, queue *kueue.ClusterQueue) bool {
	for name := range workload.AdmissionChecksForWorkload(logr.Discard(), wl, queue) {
		state := kueue.AdmissionCheckState{Name: name, State: kueue.CheckStateReady,
			LastTransitionTime: wl.Status.Conditions[0].LastTransitionTime}
		if w.chance(50) {
			state.State = kueue.CheckStatePending
			wl.Status.Conditions = wl.Status.Conditions[:1]
		}
		wl.Status.AdmissionChecks = append(wl.Status.AdmissionChecks, state)
	}
	return len(wl.Status.AdmissionChecks) > 0
}

func condition(kind, reason, message string, at metav1.Time) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message,
		LastTransitionTime: at, ObservedGeneration: 1}
}

func (w *world) queueOf(wl *kueue.Workload) *kueue.ClusterQueue {
	for _, local := range w.local {
		if local.Namespace != wl.Namespace || local.Name != string(wl.Spec.QueueName) {
			continue
		}
		for _, queue := range w.queues {
			if queue.Name == string(local.Spec.ClusterQueue) {
				return queue
			}
		}
	}
	return nil
}

func (w *world) assign(queue *kueue.ClusterQueue, set *kueue.PodSet) *kueue.PodSetAssignment {
	assignment := &kueue.PodSetAssignment{
		Name: set.Name, Count: ptr(set.Count),
		Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{},
	}
	requests := set.Template.Spec.Containers[0].Resources.Requests
	delete(requests, "example.com/fpga")
	for _, g := range queue.Spec.ResourceGroups {
		flavor := pick(w.dice, g.Flavors...).Name
		for _, name := range g.CoveredResources {
			amount, ok := requests[name]
			if name == corev1.ResourcePods {
				amount, ok = resource.MustParse("1"), true
			}
			if !ok {
				continue
			}
			total := amount.DeepCopy()
			total.Mul(int64(set.Count))
			assignment.Flavors[name], assignment.ResourceUsage[name] = flavor, total
		}
	}
	for name := range requests {
		if _, covered := assignment.Flavors[name]; !covered {
			return nil
		}
	}
	return assignment
}

// take books the amounts; it refuses most of what would be far above the nominal quota.
func (w *world) take(queue *kueue.ClusterQueue, admission *kueue.Admission) bool {
	generous := w.chance(10)
	wanted := map[string]int64{}
	for _, assignment := range admission.PodSetAssignments {
		for name, flavor := range assignment.Flavors {
			amount := assignment.ResourceUsage[name]
			wanted[fmt.Sprintf("%s/%s/%s", queue.Name, flavor, name)] += amount.MilliValue()
		}
	}
	for _, g := range queue.Spec.ResourceGroups {
		for _, flavor := range g.Flavors {
			for _, quota := range flavor.Resources {
				key := fmt.Sprintf("%s/%s/%s", queue.Name, flavor.Name, quota.Name)
				most := quota.NominalQuota.MilliValue()
				if queue.Spec.CohortName != "" && w.chance(60) {
					most += int64(w.between(2, 10)) * 1000 * unit(quota.Name)
				}
				if !generous && wanted[key] > 0 && w.used[key]+wanted[key] > most {
					return false
				}
			}
		}
	}
	for key, amount := range wanted {
		w.used[key] += amount
	}
	return true
}
