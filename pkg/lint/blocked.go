package lint

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
)

// Blocked are the waiting workloads whose queue takes none, for a reason that stands at a path with the prefix, in an
// object of the kind; of any kind when that is empty.
func (p *Pass) Blocked(kind, prefix string) []Refusal {
	var out []Refusal
	for _, r := range p.Refusals(charge.CodeQueueBlocked) {
		if (kind == "" || r.Cause.Ref.Kind == kind) && strings.HasPrefix(r.Cause.Path, prefix) {
			out = append(out, r)
		}
	}
	return out
}

// Closed are the waiting workloads whose ClusterQueue is inactive for a cause of one of the kinds.
func (p *Pass) Closed(kinds ...queuestate.CauseKind) []Refusal {
	var out []Refusal
	for _, r := range p.Refusals(charge.CodeQueueBlocked) {
		if c := r.Problem.Inactive; c != nil && slices.Contains(kinds, c.Kind) {
			out = append(out, r)
		}
	}
	return out
}

// EachCause yields the ClusterQueues with each of the causes of one of the kinds that make it inactive.
func (p *Pass) EachCause(kinds ...queuestate.CauseKind) iter.Seq2[*cluster.Object, queuestate.Cause] {
	return func(yield func(*cluster.Object, queuestate.Cause) bool) {
		for o := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			for _, c := range p.queues.ClusterQueue(o.Ref.Name).Causes {
				if slices.Contains(kinds, c.Kind) && !yield(o, c) {
					return
				}
			}
		}
	}
}

// NeedForQueues asks for a kind when the input must hold it to tell whether some ClusterQueue is active.
func (p *Pass) NeedForQueues(gk schema.GroupKind) {
	for _, q := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
		if slices.Contains(p.queues.ClusterQueue(q.Name).Predicted.Missing, gk.Kind) {
			p.Need(gk)
			return
		}
	}
}

// ClusterQueueOf is the ClusterQueue a workload is queued in; nil when it is not in the input.
func (f *Facts) ClusterQueueOf(namespace, queue string) (*kueue.ClusterQueue, *cluster.Object) {
	lq, _, ok := cluster.Lookup[*kueue.LocalQueue](f.Snapshot, cluster.LocalQueue, namespace, queue)
	if !ok {
		return nil, nil
	}
	cq, o, ok := cluster.Lookup[*kueue.ClusterQueue](f.Snapshot, cluster.ClusterQueue, "", string(lq.Spec.ClusterQueue))
	if !ok {
		return nil, nil
	}
	return cq, o
}
