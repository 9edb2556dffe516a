package reference

import (
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// finish describes the end state.
func (r *run) finish(cluster *objects.Cluster) error {
	workloads := r.list()
	slices.SortFunc(workloads, func(a, b kueue.Workload) int { return objects.CompareKeys(&a, &b) })
	for i := range workloads {
		if a := workloads[i].Status.Admission; a != nil && len(a.PodSetAssignments) != len(workloads[i].Spec.PodSets) {
			r.result.Beyond = "an API server refuses the admission of " + string(workload.Key(&workloads[i])) +
				", which is without all of its pod sets"
		}
		r.result.Workloads = append(r.result.Workloads, r.describe(&workloads[i]))
	}
	queues := objects.Of[*kueue.ClusterQueue](cluster)
	slices.SortFunc(queues, func(a, b *kueue.ClusterQueue) int { return objects.CompareKeys(a, b) })
	if err := r.updateClusterQueues(); err != nil {
		return err
	}
	for _, queue := range queues {
		current := &kueue.ClusterQueue{}
		if err := r.store.Get(r.ctx, types.NamespacedName{Name: queue.Name}, current); err != nil {
			return err
		}
		r.result.ClusterQueues = append(r.result.ClusterQueues, describeQueue(current))
	}
	return nil
}

func (r *run) describe(wl *kueue.Workload) outcome.Workload {
	key := wl.Namespace + "/" + wl.Name
	described := outcome.Workload{
		Workload: outcome.Reference{Namespace: wl.Namespace, Name: wl.Name},
		State:    state(wl),
	}
	if described.State == "Finished" {
		return described
	}
	if workload.HasQuotaReservation(wl) {
		described.PodSets = r.podSets(wl)
		described.AdmittedInCycle = r.admitted[key]
		return described
	}
	if condition := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadQuotaReserved); condition != nil {
		described.Reason, described.Message = condition.Reason, condition.Message
	}
	if len(r.messages[key]) > 1 {
		described.PossibleMessages = r.messages[key]
	}
	return described
}

func state(wl *kueue.Workload) string {
	is := func(condition string) bool { return apimeta.IsStatusConditionTrue(wl.Status.Conditions, condition) }
	switch {
	case is(kueue.WorkloadFinished):
		return "Finished"
	case workload.HasQuotaReservation(wl) && is(kueue.WorkloadEvicted):
		return "Evicted"
	case workload.IsAdmitted(wl):
		return "Admitted"
	case workload.HasQuotaReservation(wl):
		return "QuotaReserved"
	case !workload.IsActive(wl):
		return "Deactivated"
	}
	condition := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadQuotaReserved)
	if condition != nil && condition.Status == metav1.ConditionFalse && condition.Reason == kueue.WorkloadInadmissible {
		return "Inadmissible"
	}
	return "Pending"
}

// podSets are what the Workload holds: what its admission says, less the pods that are done.
func (r *run) podSets(wl *kueue.Workload) []outcome.PodSet {
	var sets []outcome.PodSet
	if len(wl.Status.ReclaimablePods) > 0 {
		return r.reducedPodSets(wl)
	}
	for _, assignment := range wl.Status.Admission.PodSetAssignments {
		set := outcome.PodSet{Name: string(assignment.Name)}
		if assignment.Count != nil {
			set.Count = *assignment.Count
		}
		if len(assignment.Flavors) > 0 {
			set.Flavors, set.Usage = map[string]string{}, map[string]string{}
		}
		for resource, flavor := range assignment.Flavors {
			set.Flavors[string(resource)] = string(flavor)
		}
		for resource, quantity := range assignment.ResourceUsage {
			set.Usage[string(resource)] = quantity.String()
		}
		sets = append(sets, set)
	}
	return sets
}

func (r *run) reducedPodSets(wl *kueue.Workload) []outcome.PodSet {
	var sets []outcome.PodSet
	for _, requests := range workload.NewInfo(wl).TotalRequests {
		set := outcome.PodSet{Name: string(requests.Name), Count: requests.Count, Flavors: map[string]string{},
			Usage: map[string]string{}}
		for resource, flavor := range requests.Flavors {
			quantity := r.formatter.ResourceQuantity(resource, amountOf(&requests, resource))
			set.Flavors[string(resource)], set.Usage[string(resource)] = string(flavor), quantity.String()
		}
		sets = append(sets, set)
	}
	return sets
}

func describeQueue(queue *kueue.ClusterQueue) outcome.ClusterQueue {
	described := outcome.ClusterQueue{
		Name:     queue.Name,
		Usage:    map[string]map[string]string{},
		Pending:  int(queue.Status.PendingWorkloads),
		Admitted: int(queue.Status.AdmittedWorkloads),
	}
	for _, flavor := range queue.Status.FlavorsReservation {
		usage := map[string]string{}
		for _, resource := range flavor.Resources {
			usage[string(resource.Name)] = resource.Total.String()
		}
		described.Usage[string(flavor.Name)] = usage
	}
	return described
}
