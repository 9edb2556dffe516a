package reference

import (
	"fmt"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// decideEach nominates every Workload that waits alone, in a snapshot of its own of the present state. If a queue
// that is being drained has given quota back by now, the present state of the dump is gone, and nothing is asked.
func (r *run) decideEach(cluster *objects.Cluster) error {
	if r.reserved() != countReserved(objects.Of[*kueue.Workload](cluster)) {
		return nil
	}
	var pending []*workload.Info
	for _, queue := range objects.Of[*kueue.ClusterQueue](cluster) {
		name := kueue.ClusterQueueReference(queue.Name)
		for _, info := range r.queues.PendingWorkloadsInfo(name) {
			copied := *info
			copied.ClusterQueue = name
			pending = append(pending, &copied)
		}
	}
	slices.SortFunc(pending, func(a, b *workload.Info) int { return objects.CompareKeys(a.Obj, b.Obj) })
	for _, info := range pending {
		decision, err := r.decide(info)
		if err != nil {
			return err
		}
		if n := len(decision.Attempts); n > 0 {
			if last := decision.Attempts[n-1]; len(last.PodSets) > 0 && len(last.PodSets) < len(info.Obj.Spec.PodSets) {
				continue // an API server refuses an admission without all pod sets
			}
		}
		r.result.Next = append(r.result.Next, *decision)
	}
	return nil
}

func (r *run) reserved() int {
	var workloads []*kueue.Workload
	for _, wl := range r.list() {
		workloads = append(workloads, &wl)
	}
	return countReserved(workloads)
}

func countReserved(workloads []*kueue.Workload) int {
	count := 0
	for _, wl := range workloads {
		if workload.HasQuotaReservation(wl) {
			count++
		}
	}
	return count
}

func (r *run) decide(info *workload.Info) (*outcome.Decision, error) {
	decision := &outcome.Decision{
		Workload:     outcome.Reference{Namespace: info.Obj.Namespace, Name: info.Obj.Name},
		ClusterQueue: string(info.ClusterQueue),
	}
	seen := map[string]bool{}
	for {
		snapshot, err := r.cache.Snapshot(r.ctx)
		if err != nil {
			return nil, err
		}
		queue := snapshot.ClusterQueue(info.ClusterQueue)
		if refusal := r.refusal(info, queue); refusal != "" {
			decision.Attempts = append(decision.Attempts, outcome.Attempt{Mode: "NotNominated", Message: refusal})
			break
		}
		assignment, targets := getAssignments(r.scheduler, r.ctx, info, snapshot)
		decision.Attempts = append(decision.Attempts, attempt(&assignment, targets))
		info.LastAssignment = &assignment.LastState
		settled := assignment.RepresentativeMode() == flavorassigner.Fit || len(targets) > 0
		if settled || !info.LastAssignment.PendingFlavors() {
			break
		}
		progress := fmt.Sprint(info.LastAssignment.LastTriedFlavorIdx)
		if seen[progress] {
			decision.Endless = true
			break
		}
		seen[progress] = true
	}
	return decision, nil
}

// refusal repeats the checks that nominate makes before it assigns flavors.
func (r *run) refusal(info *workload.Info, queue *schdcache.ClusterQueueSnapshot) string {
	if queue == nil {
		return "ClusterQueue " + string(info.ClusterQueue) + " is inactive"
	}
	if err := workload.ValidateAdmissibility(r.ctx, r.store, info, queue.NamespaceSelector); err != nil {
		return err.Error()
	}
	return ""
}

func attempt(assignment *flavorassigner.Assignment, targets []*preemption.Target) outcome.Attempt {
	described := outcome.Attempt{
		Mode:      assignment.RepresentativeMode().String(),
		Borrowing: assignment.Borrows(),
		Message:   assignment.Message(),
	}
	if assignment.RepresentativeMode() != flavorassigner.NoFit {
		described.PodSets = assignedPodSets(assignment)
	}
	if len(targets) > 0 {
		described.Message += fmt.Sprintf(". Pending the preemption of %d workload(s)", len(targets))
	}
	for _, target := range targets {
		described.Preempts = append(described.Preempts, outcome.Victim{
			Workload: outcome.Reference{Namespace: target.WorkloadInfo.Obj.Namespace,
				Name: target.WorkloadInfo.Obj.Name},
			Reason: target.Reason,
		})
	}
	slices.SortFunc(described.Preempts, func(a, b outcome.Victim) int { return a.Workload.Compare(b.Workload) })
	return described
}

func assignedPodSets(assignment *flavorassigner.Assignment) []outcome.PodSet {
	var sets []outcome.PodSet
	for _, set := range assignment.PodSets {
		assigned := outcome.PodSet{Name: string(set.Name), Count: set.Count, Flavors: map[string]string{}}
		for resource, flavor := range set.Flavors {
			assigned.Flavors[string(resource)] = string(flavor.Name)
		}
		sets = append(sets, assigned)
	}
	return sets
}
