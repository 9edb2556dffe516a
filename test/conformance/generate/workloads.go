package generate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
)

// makeWorkloads makes up to forty Workloads that hold quota and one to ten that wait, in mixed order.
func (w *world) makeWorkloads() {
	admitted := w.between(0, 12)
	if w.tight || w.chance(30) {
		admitted = w.between(8, 40)
	}
	pending := w.between(1, 10)
	for i := 0; admitted+pending > 0; i++ {
		wl := w.workload(fmt.Sprintf("w%02d", i))
		if w.IntN(admitted+pending) < admitted {
			admitted--
			if !w.admit(wl) {
				continue // its queue has no flavor for it, and the next one gets another number
			}
		} else {
			pending--
			w.makePast(wl)
		}
		w.workloads = append(w.workloads, wl)
	}
}

func (w *world) workload(name string) *kueue.Workload {
	queue := pick(w.dice, w.local...)
	wl := &kueue.Workload{ObjectMeta: w.meta(queue.Namespace, name)}
	wl.Spec.QueueName = kueue.LocalQueueName(queue.Name)
	wl.Spec.Priority = ptr(pick(w.dice, int32(0), 0, 0, 10, 10, 100, -10))
	if w.chance(25) {
		wl.Spec.Priority = ptr(int32(w.between(-5, 60)))
	}
	wl.Spec.Active = ptr(!w.chance(2))
	if w.chance(1) {
		wl.Spec.QueueName = missingQueue
	}
	sets := 1
	if w.chance(30) {
		sets = w.between(2, 3)
	}
	for i := range sets {
		set := w.podSet()
		if sets > 1 {
			set.Name = kueue.PodSetReference("set-" + string(rune('a'+i)))
		}
		wl.Spec.PodSets = append(wl.Spec.PodSets, set)
	}
	w.makePartial(wl)
	if !w.chance(4) {
		w.own(wl)
	}
	return wl
}

// makePast gives a Workload that waits something to remember: what it was told earlier, or that it was preempted.
func (w *world) makePast(wl *kueue.Workload) {
	told := condition(kueue.WorkloadQuotaReserved, "Pending", "what it was told an hour ago",
		after(wl.CreationTimestamp, 1))
	told.Status = metav1.ConditionFalse
	switch {
	case w.chance(15):
		wl.Status.Conditions = []metav1.Condition{told}
	case w.chance(6):
		told.Message = "Preempted to accommodate a workload (UID: 1, JobUID: 2) due to prioritization in the " +
			"ClusterQueue"
		wl.Status.Conditions = []metav1.Condition{
			told,
			condition(kueue.WorkloadEvicted, kueue.WorkloadEvictedByPreemption, told.Message, told.LastTransitionTime),
			condition(kueue.WorkloadPreempted, kueue.InClusterQueueReason, told.Message, told.LastTransitionTime),
			condition(kueue.WorkloadRequeued, kueue.WorkloadEvictedByPreemption, told.Message, told.LastTransitionTime),
		}
	}
}

// makePartial lets one pod set shrink; only a Job can, which has one.
func (w *world) makePartial(wl *kueue.Workload) {
	set := &wl.Spec.PodSets[w.IntN(len(wl.Spec.PodSets))]
	if set.Count > 1 && w.chance(20) {
		set.MinCount = ptr(int32(w.between(1, int(set.Count))))
	}
}

// own gives the Workload to a job, so that somebody gives its reservation back when it is evicted.
func (w *world) own(wl *kueue.Workload) {
	owner := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: wl.Name, UID: w.uid(),
		Controller: ptr(true), BlockOwnerDeletion: ptr(true)}
	if len(wl.Spec.PodSets) > 1 {
		owner.APIVersion, owner.Kind = "jobset.x-k8s.io/v1alpha2", "JobSet"
	}
	wl.OwnerReferences = []metav1.OwnerReference{owner}
	wl.Labels = map[string]string{constants.JobUIDLabel: string(owner.UID)}
}

func (w *world) podSet() kueue.PodSet {
	set := kueue.PodSet{Name: kueue.DefaultPodSetName, Count: int32(pick(w.dice, 1, 1, 1, 1, 2, 2, 3, 5))}
	requests := corev1.ResourceList{}
	for _, g := range w.groups {
		for _, name := range g.resources {
			if name != corev1.ResourcePods && w.chance(85) {
				requests[name] = quantity(name, int64(pick(w.dice, 0, 1, 1, 1, 1, 2, 2, 3)))
			}
		}
	}
	if amount, ok := requests[corev1.ResourceCPU]; ok && amount.Value() > 0 && w.chance(30) {
		amount.SetMilli(int64(w.between(1, 20)) * 250)
		requests[corev1.ResourceCPU] = amount
	}
	if w.chance(3) {
		requests["example.com/fpga"] = quantity("example.com/fpga", int64(w.between(0, 1)))
	}
	set.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/train:1",
			Resources: corev1.ResourceRequirements{Requests: requests}}},
	}
	w.place(&set.Template.Spec)
	return set
}

// place says which nodes the pods accept.
func (w *world) place(pod *corev1.PodSpec) {
	if w.chance(10) {
		pod.NodeSelector = map[string]string{pick(w.dice, "gpu", "zone", "gpu", "disk"): pick(w.dice, "a100", "l4",
			"spot", "east", "west")}
	}
	if w.chance(6) {
		terms := &corev1.NodeSelector{NodeSelectorTerms: w.terms()}
		affinity := &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
		pod.Affinity = &corev1.Affinity{NodeAffinity: affinity}
	}
	if w.chance(60) {
		pod.Tolerations = append(pod.Tolerations,
			corev1.Toleration{Key: pick(w.dice, "gpu", "spot"), Operator: corev1.TolerationOpExists})
	}
	if w.chance(10) {
		pod.Tolerations = append(pod.Tolerations,
			corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpEqual, Value: "yes",
				Effect: corev1.TaintEffectNoSchedule})
	}
}

func (w *world) terms() []corev1.NodeSelectorTerm {
	var terms []corev1.NodeSelectorTerm
	for range w.between(1, 2) {
		var term corev1.NodeSelectorTerm
		for range w.between(1, 2) {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
				Key:      pick(w.dice, "gpu", "zone", "disk"),
				Operator: pick(w.dice, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
				Values:   []string{pick(w.dice, "a100", "l4", "any", "east")},
			})
			if w.chance(15) {
				last := &term.MatchExpressions[len(term.MatchExpressions)-1]
				last.Operator, last.Values = pick(w.dice, corev1.NodeSelectorOpExists,
					corev1.NodeSelectorOpDoesNotExist), nil
			}
		}
		terms = append(terms, term)
	}
	return terms
}

// after is a moment so many seconds later.
func after(t metav1.Time, seconds int) metav1.Time {
	return metav1.NewTime(t.Add(time.Duration(seconds) * time.Second))
}
