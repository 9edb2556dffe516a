package contest

import (
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// open is what a result leaves to chance: the end of Workloads, what the next attempt of Workloads comes to, and the
// ClusterQueues whose counts depend on the former.
type open struct {
	workloads, next map[outcome.Reference]bool
	queues          map[string]bool
}

// unknown begins what the program says where it can't tell.
const unknown = "unknown: "

// leftOpen finds what the program says that chance decides; nil when that is nothing.
func leftOpen(cluster *objects.Cluster, answer *outcome.Result) *open {
	found := &open{workloads: map[outcome.Reference]bool{}, next: map[outcome.Reference]bool{},
		queues: map[string]bool{}}
	byChance := func(text string) bool {
		return strings.HasPrefix(text, unknown) && strings.Contains(text, "chance decides")
	}
	for _, w := range answer.Workloads {
		if byChance(w.Message) {
			found.workloads[w.Workload] = true
		}
	}
	for _, d := range answer.Next {
		if byChance(d.Last().Message) {
			found.next[d.Workload] = true
		}
	}
	if len(found.workloads) == 0 && len(found.next) == 0 {
		return nil
	}
	clusterQueue := map[outcome.Reference]string{}
	for _, q := range objects.Of[*kueue.LocalQueue](cluster) {
		clusterQueue[outcome.Reference{Namespace: q.Namespace, Name: q.Name}] = string(q.Spec.ClusterQueue)
	}
	for _, w := range objects.Of[*kueue.Workload](cluster) {
		if found.workloads[outcome.Reference{Namespace: w.Namespace, Name: w.Name}] {
			found.queues[clusterQueue[outcome.Reference{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}]] = true
		}
	}
	return found
}

// takeOut returns the result without what is left open.
func (o *open) takeOut(result *outcome.Result) *outcome.Result {
	rest := *result
	about := func(w outcome.Reference) bool { return o.workloads[w] }
	rest.Workloads = slices.DeleteFunc(slices.Clone(result.Workloads),
		func(w outcome.Workload) bool { return about(w.Workload) })
	rest.Next = slices.DeleteFunc(slices.Clone(result.Next),
		func(d outcome.Decision) bool { return about(d.Workload) || o.next[d.Workload] })
	rest.ClusterQueues = slices.DeleteFunc(slices.Clone(result.ClusterQueues),
		func(q outcome.ClusterQueue) bool { return o.queues[q.Name] })
	rest.Timeline = slices.Clone(result.Timeline)
	for i, cycle := range rest.Timeline {
		rest.Timeline[i].Decisions = slices.DeleteFunc(slices.Clone(cycle.Decisions),
			func(d outcome.CycleDecision) bool { return about(d.Workload) })
	}
	return &rest
}
