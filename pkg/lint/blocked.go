package lint

import (
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Blocked are the waiting workloads whose queue takes none, for a reason that stands at a path with the prefix, in an object
// of the kind; of any kind when that is empty.
func (p *Pass) Blocked(kind, prefix string) []Refusal {
	var out []Refusal
	for _, r := range p.Refusals(charge.CodeQueueBlocked) {
		if (kind == "" || r.Cause.Ref.Kind == kind) && strings.HasPrefix(r.Cause.Path, prefix) {
			out = append(out, r)
		}
	}
	return out
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
