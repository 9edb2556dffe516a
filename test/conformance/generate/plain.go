package generate

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
)

// Plain takes out of a cluster what keeps Workloads from quota by other means than quota: queues that are stopped,
// that take some namespaces only or lack a flavor, and Workloads that are deactivated or in no queue.
func Plain(cluster *objects.Cluster) *objects.Cluster {
	plain := &objects.Cluster{Configuration: cluster.Configuration}
	for _, object := range cluster.Clone().Objects {
		switch typed := object.(type) {
		case *kueue.ClusterQueue:
			typed.Spec.StopPolicy = ptr(kueue.None)
			typed.Spec.NamespaceSelector = &metav1.LabelSelector{}
			supply(typed, plain)
		case *kueue.LocalQueue:
			typed.Spec.StopPolicy = ptr(kueue.None)
		case *kueue.Workload:
			typed.Spec.Active = ptr(true)
			if typed.Spec.QueueName == missingQueue {
				continue
			}
		}
		plain.Objects = append(plain.Objects, object)
	}
	return plain
}

// supply gives a queue a flavor that exists instead of the one that is missing.
func supply(queue *kueue.ClusterQueue, cluster *objects.Cluster) {
	groups := queue.Spec.ResourceGroups
	if len(groups) == 0 || groups[0].Flavors[0].Name != missingFlavor {
		return
	}
	taken := map[kueue.ResourceFlavorReference]bool{}
	for _, group := range groups {
		for _, flavor := range group.Flavors {
			taken[flavor.Name] = true
		}
	}
	for _, flavor := range objects.Of[*kueue.ResourceFlavor](cluster) {
		if name := kueue.ResourceFlavorReference(flavor.Name); !taken[name] {
			groups[0].Flavors[0].Name = name
			return
		}
	}
}

// Names of nothing.
const (
	missingFlavor = "missing"
	missingQueue  = "nowhere"
)
