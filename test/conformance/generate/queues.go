package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func (w *world) makeQueues() {
	number := w.between(1, 8)
	if w.tight {
		number = w.between(2, 4)
	}
	for i := range number {
		queue := w.queue(fmt.Sprintf("queue-%d", i))
		w.queues = append(w.queues, queue)
		for j := range w.between(1, 2) {
			w.local = append(w.local, w.localQueue(fmt.Sprintf("lq-%d-%d", i, j), queue.Name))
		}
	}
}

func (w *world) queue(name string) *kueue.ClusterQueue {
	queue := &kueue.ClusterQueue{ObjectMeta: w.meta("", name)}
	if len(w.cohortName) > 0 && (w.tight || w.chance(90)) {
		queue.Spec.CohortName = kueue.CohortReference(pick(w.dice, w.cohortName...))
	}
	queue.Spec.QueueingStrategy = pick(w.dice, kueue.BestEffortFIFO, kueue.BestEffortFIFO, kueue.StrictFIFO)
	queue.Spec.NamespaceSelector = &metav1.LabelSelector{}
	if w.chance(3) {
		queue.Spec.NamespaceSelector.MatchLabels = map[string]string{corev1.LabelMetadataName: "team-a"}
	}
	queue.Spec.FlavorFungibility = w.fungibility()
	queue.Spec.Preemption = w.preemption()
	queue.Spec.FairSharing = w.weight()
	queue.Spec.StopPolicy = ptr(kueue.None)
	if w.chance(3) {
		queue.Spec.StopPolicy = ptr(pick(w.dice, kueue.Hold, kueue.HoldAndDrain))
	}
	for _, g := range w.groups {
		if len(w.groups) > 1 && w.chance(3) {
			continue
		}
		queue.Spec.ResourceGroups = append(queue.Spec.ResourceGroups, w.quotaFor(g, queue.Spec.CohortName != "", false))
	}
	queue.Spec.AdmissionChecksStrategy = w.checksFor(queue)
	if queue.Spec.AdmissionChecksStrategy == nil && len(queue.Spec.ResourceGroups) > 0 && w.chance(2) {
		queue.Spec.ResourceGroups[0].Flavors[0].Name = missingFlavor
	}
	return queue
}

// makeChecks makes an admission check in some clusters: it is never done, so reservations wait with it.
func (w *world) makeChecks() {
	if !w.chance(15) {
		return
	}
	check := &kueue.AdmissionCheck{ObjectMeta: w.meta("", "approval")}
	check.Spec.ControllerName = "example.com/approval"
	active := condition(kueue.AdmissionCheckActive, "Active", "The admission check is active", check.CreationTimestamp)
	if w.chance(15) {
		active.Status = metav1.ConditionFalse
	}
	check.Status.Conditions = []metav1.Condition{active}
	w.checks = append(w.checks, check)
}

func (w *world) checksFor(queue *kueue.ClusterQueue) *kueue.AdmissionChecksStrategy {
	if len(w.checks) == 0 || len(queue.Spec.ResourceGroups) == 0 || !w.chance(40) {
		return nil
	}
	rule := kueue.AdmissionCheckStrategyRule{Name: kueue.AdmissionCheckReference(w.checks[0].Name)}
	if w.chance(40) {
		rule.OnFlavors = []kueue.ResourceFlavorReference{pick(w.dice, queue.Spec.ResourceGroups[0].Flavors...).Name}
	}
	return &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{rule}}
}

func (w *world) fungibility() *kueue.FlavorFungibility {
	fungibility := &kueue.FlavorFungibility{
		WhenCanBorrow:  pick(w.dice, kueue.MayStopSearch, kueue.TryNextFlavor),
		WhenCanPreempt: pick(w.dice, kueue.TryNextFlavor, kueue.TryNextFlavor, kueue.MayStopSearch),
	}
	if fungibility.WhenCanBorrow == kueue.TryNextFlavor && fungibility.WhenCanPreempt == kueue.TryNextFlavor &&
		w.chance(60) {
		fungibility.Preference = ptr(pick(w.dice, kueue.BorrowingOverPreemption, kueue.PreemptionOverBorrowing))
	}
	return fungibility
}

func (w *world) preemption() *kueue.ClusterQueuePreemption {
	preemption := &kueue.ClusterQueuePreemption{
		WithinClusterQueue: pick(w.dice, kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority,
			kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority),
		ReclaimWithinCohort: pick(w.dice, kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority,
			kueue.PreemptionPolicyAny, kueue.PreemptionPolicyAny),
		BorrowWithinCohort: &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever},
	}
	if preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever && w.chance(40) {
		preemption.BorrowWithinCohort.Policy = kueue.BorrowWithinCohortPolicyLowerPriority
		if w.chance(50) {
			preemption.BorrowWithinCohort.MaxPriorityThreshold = ptr(pick(w.dice, int32(-1), 0, 10, 50))
		}
	}
	return preemption
}

func (w *world) localQueue(name, clusterQueue string) *kueue.LocalQueue {
	namespace := pick(w.dice, w.namespaces...).Name
	queue := &kueue.LocalQueue{ObjectMeta: w.meta(namespace, name)}
	queue.Spec.ClusterQueue = kueue.ClusterQueueReference(clusterQueue)
	queue.Spec.StopPolicy = ptr(kueue.None)
	if w.chance(2) {
		queue.Spec.StopPolicy = ptr(pick(w.dice, kueue.Hold, kueue.HoldAndDrain))
	}
	return queue
}
