package recorded

import (
	"iter"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Reports tells that the status of a ClusterQueue tells of its usage: a manifest, and a status that was never written,
// do not.
func Reports(record *cluster.Object, q *kueue.ClusterQueue) bool {
	return !record.Laid && len(q.Status.FlavorsReservation) > 0
}

// Reserved is what a ClusterQueue says that its workloads hold.
func Reserved(q *kueue.ClusterQueue) iter.Seq2[FlavorResource, resource.Quantity] {
	return usage(q.Status.FlavorsReservation)
}

// Admitted is what a ClusterQueue says that those of its workloads hold that are admitted.
func Admitted(q *kueue.ClusterQueue) iter.Seq2[FlavorResource, resource.Quantity] {
	return usage(q.Status.FlavorsUsage)
}

func usage(in []kueue.FlavorUsage) iter.Seq2[FlavorResource, resource.Quantity] {
	return func(yield func(FlavorResource, resource.Quantity) bool) {
		for i := range in {
			for _, r := range in[i].Resources {
				if !yield(FlavorResource{string(in[i].Name), r.Name}, r.Total) {
					return
				}
			}
		}
	}
}
