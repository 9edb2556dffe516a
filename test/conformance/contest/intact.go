package contest

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
)

// dangling lists what objects refer to and the cluster does not hold. A smaller cluster must not have more of it
// than the whole one: that a queue is missing is another story than the one to be told.
func dangling(cluster *objects.Cluster) map[string]bool {
	known := map[string]bool{}
	for _, object := range cluster.Objects {
		known[kindOf(object)+object.GetNamespace()+"/"+object.GetName()] = true
	}
	missing := map[string]bool{}
	need := func(reference string) {
		if !known[reference] {
			missing[reference] = true
		}
	}
	for _, object := range cluster.Objects {
		switch typed := object.(type) {
		case *kueue.Workload:
			need("namespace /" + typed.Namespace)
			need("local queue " + typed.Namespace + "/" + string(typed.Spec.QueueName))
			if typed.Status.Admission != nil {
				need("cluster queue /" + string(typed.Status.Admission.ClusterQueue))
			}
		case *kueue.LocalQueue:
			need("cluster queue /" + string(typed.Spec.ClusterQueue))
		case *kueue.ClusterQueue:
			if typed.Spec.AdmissionChecksStrategy != nil {
				for _, rule := range typed.Spec.AdmissionChecksStrategy.AdmissionChecks {
					need("admission check /" + string(rule.Name))
				}
			}
			for _, group := range typed.Spec.ResourceGroups {
				for _, flavor := range group.Flavors {
					need("flavor /" + string(flavor.Name))
				}
			}
		}
	}
	return missing
}

func kindOf(object client.Object) string {
	switch object.(type) {
	case *kueue.LocalQueue:
		return "local queue "
	case *kueue.ClusterQueue:
		return "cluster queue "
	case *kueue.ResourceFlavor:
		return "flavor "
	case *kueue.AdmissionCheck:
		return "admission check "
	case *corev1.Namespace:
		return "namespace "
	default:
		return "other "
	}
}

// within says that every reference in one set is in the other, too.
func within(missing, allowed map[string]bool) bool {
	for reference := range missing {
		if !allowed[reference] {
			return false
		}
	}
	return true
}
