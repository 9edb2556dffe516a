package workload

import (
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// layOver brings an existing Workload in step with its job when the job is laid over the cluster, as Kueue does (or
// makes a new one): its pod sets, and as far as they may still change its queue and priority.
func (f *finder) layOver(w *Workload) {
	if w.Owner == nil || !w.Owner.Laid || w.Record.Laid || isFinished(w.Object) || len(w.Members) > 0 {
		return
	}
	k := f.kindOf(w.Owner.Ref.GroupKind())
	if k == nil || k.podSets == nil {
		return
	}
	f.followQueue(w)
	s := k.podSets(f, w.Owner)
	if s.problem != nil || len(s.missing) > 0 || len(s.podSets) == 0 {
		return
	}
	reclaimable := map[string]int32{}
	for _, ps := range w.PodSets {
		reclaimable[ps.Name] = ps.Reclaimable
	}
	w.PodSets = s.podSets
	f.applyReclaimable(w.PodSets, reclaimable)
	f.followPriority(k, w)
	w.Reasons = append(w.Reasons, reason(TakenFromManifest,
		"The pod sets, queue and priority are those of "+w.Owner.Ref.String()+
			" as it would be applied, not those of the Workload in the cluster.", w.Owner, ""))
}

// followQueue takes the queue of the job's label. Once quota is reserved the queue can't be changed, and a job that
// names none any more keeps the Workload it has.
func (f *finder) followQueue(w *Workload) {
	if queue, _, known := f.queueOf(w.Owner); known && queue != "" && !reservesQuota(w.Object) {
		w.Queue = queue
	}
}

// followPriority takes the priority class of the job when its name has changed. A Workload whose priority comes from a
// PriorityClass of its pods does not follow the label, and one that reserved quota without a class can't be given one.
// Where the class does not exist, the update fails and the Workload stays as it is.
func (f *finder) followPriority(k *kind, w *Workload) {
	ref := w.Object.Spec.PriorityClassRef
	switch {
	case ref != nil && ref.Group == schedulingv1.GroupName:
		return
	case ref == nil && reservesQuota(w.Object):
		return
	case f.priorityLabelOf(w.Owner) == w.PriorityClass:
		return
	}
	as := *w
	as.PriorityClass, as.Priority, as.Reasons = "", 0, slices.Clone(w.Reasons)
	if f.prioritise(k, w.Owner, &as); as.State == w.State && as.PriorityMissing == "" {
		w.PriorityClass, w.Priority = as.PriorityClass, as.Priority
	}
}

func reservesQuota(w *kueue.Workload) bool {
	return apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved)
}
