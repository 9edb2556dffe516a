package reference

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/patching"
)

// maxDeliveries bounds the events of one cycle; controllers that keep answering each other are a bug here.
const maxDeliveries = 10000

// arrive lets a Workload into the cluster.
func (m *manager) arrive(wl *kueue.Workload) error {
	m.store.add(wl)
	m.workloads.Create(event.TypedCreateEvent[*kueue.Workload]{Object: wl.DeepCopy()})
	return m.reconcile(wl.Namespace, wl.Name)
}

// deliver hands every change of a Workload to the Workload controller and to the job controllers' stand-in,
// until none is left, and then what follows from them for the queues.
func (m *manager) deliver() error {
	for range maxDeliveries {
		changes := m.store.takeChanges()
		if len(changes) == 0 {
			return m.updateClusterQueues()
		}
		for _, c := range changes {
			m.workloads.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: c.before,
				ObjectNew: c.after.DeepCopy()})
		}
		for _, c := range changes {
			if err := m.reconcile(c.after.Namespace, c.after.Name); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("the controllers did not come to rest")
}

func (m *manager) reconcile(namespace, name string) error {
	// An error means "try again with back-off": the Workload waits, as its conditions say.
	_, _ = m.workloads.Reconcile(m.ctx, request(namespace, name))
	if m.slowJobs != nil {
		return nil
	}
	return m.finishEviction(namespace, name)
}

// finishSomeEvictions lets about half of the jobs stop that have to, by chance; all of them and at last one
// when the scheduler has nothing else to do. It is for runs with slow jobs only.
func (m *manager) finishSomeEvictions(idle bool) error {
	if m.slowJobs == nil {
		return nil
	}
	var list kueue.WorkloadList
	if err := m.store.List(m.ctx, &list); err != nil {
		return err
	}
	for _, wl := range list.Items {
		if !idle && m.slowJobs.IntN(2) == 0 {
			continue
		}
		if err := m.finishEviction(wl.Namespace, wl.Name); err != nil {
			return err
		}
	}
	return m.deliver()
}

// finishEviction does what the job reconciler does with an evicted Workload once its job has stopped
// (pkg/controller/jobframework, "handle eviction"). A Workload without an owner keeps its reservation.
func (m *manager) finishEviction(namespace, name string) error {
	wl := &kueue.Workload{}
	if err := m.store.Get(m.ctx, request(namespace, name).NamespacedName, wl); err != nil {
		return err
	}
	evicted := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadEvicted)
	if len(wl.OwnerReferences) == 0 || evicted == nil || evicted.Status != metav1.ConditionTrue ||
		!workload.HasQuotaReservation(wl) {
		return nil
	}
	return patching.PatchAdmissionStatus(m.ctx, m.store, wl, m.clock, func(wl *kueue.Workload) (bool, error) {
		requeued := evicted.Reason == kueue.WorkloadEvictedByPreemption ||
			evicted.Reason == kueue.WorkloadEvictedDueToNodeFailures
		if features.Enabled(features.SkipReassignmentForPodOwnedWorkloads) && workload.OwnedBySinglePod(wl) {
			requeued = false
		}
		workload.SetRequeuedCondition(wl, evicted.Reason, evicted.Message, requeued)
		//lint:ignore SA1019 the job reconciler's own fallback
		reason := workload.UnadmittedWorkloadReasonWithFallback(kueue.WorkloadQuotaReservedReasonPendingEvaluation,
			kueue.WorkloadPending)
		workload.UnsetQuotaReservationWithCondition(wl, reason, evicted.Message, m.clock.Now())
		return true, nil
	})
}
