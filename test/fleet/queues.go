package fleet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

const (
	teams      = 8
	flavorName = "a100"
	queueName  = "gpu"
	// gpuMemory is the resource that the memory of GPUs is charged to.
	gpuMemory = "gpu.memory"
)

const configuration = `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks:
  - batch/job
resources:
  deviceClassMappings:
  - name: gpu.memory
    deviceClassNames:
    - gpu.nvidia.com
    - mig.nvidia.com
    sources:
    - counter:
        name: memory
        driver: gpu.nvidia.com
        deviceSelector:
          cel:
            expression: device.driver == 'gpu.nvidia.com'
`

func writeConfiguration(out *list) {
	out.add(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "kueue-manager-config", Namespace: "kueue-system"},
		Data:       map[string]string{"controller_manager_config.yaml": configuration},
	})
	for _, kind := range []string{"gpu", "mig"} {
		out.add(&resourceapi.DeviceClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "DeviceClass"},
			ObjectMeta: metav1.ObjectMeta{Name: kind + ".nvidia.com"},
			Spec: resourceapi.DeviceClassSpec{Selectors: []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{
				Expression: fmt.Sprintf("device.driver == 'gpu.nvidia.com' && "+
					"device.attributes['gpu.nvidia.com'].type == '%s'", kind),
			}}}},
		})
	}
}

// writeQueues writes a namespace, a LocalQueue, a ClusterQueue and every claim template for each team.
func writeQueues(out *list, s Size) {
	out.add(&kueue.ResourceFlavor{
		TypeMeta:   metav1.TypeMeta{APIVersion: kueueVersion, Kind: "ResourceFlavor"},
		ObjectMeta: metav1.ObjectMeta{Name: flavorName},
	})
	for team := range teams {
		name := teamName(team)
		out.add(&corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}},
		})
		out.add(&kueue.LocalQueue{
			TypeMeta:   metav1.TypeMeta{APIVersion: kueueVersion, Kind: "LocalQueue"},
			ObjectMeta: metav1.ObjectMeta{Name: queueName, Namespace: name},
			Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)},
		})
		out.add(clusterQueue(name, s))
		for _, r := range requests {
			out.add(r.template(name))
		}
	}
}

func clusterQueue(name string, s Size) *kueue.ClusterQueue {
	quota := func(resourceName corev1.ResourceName, quantity string) kueue.ResourceQuota {
		return kueue.ResourceQuota{Name: resourceName, NominalQuota: resource.MustParse(quantity)}
	}
	return &kueue.ClusterQueue{
		TypeMeta:   metav1.TypeMeta{APIVersion: kueueVersion, Kind: "ClusterQueue"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueue.ResourceGroup{{
				CoveredResources: []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, gpuMemory},
				Flavors: []kueue.FlavorQuotas{{Name: flavorName, Resources: []kueue.ResourceQuota{
					quota(corev1.ResourceCPU, "100k"),
					quota(corev1.ResourceMemory, "1Pi"),
					quota(gpuMemory, mi(teamQuotaMi(s))),
				}}},
			}},
		},
	}
}

// teamQuotaMi is a team's share of the memory of all GPUs.
func teamQuotaMi(s Size) int64 { return int64(s.Nodes*s.GPUs) * whole.memoryMi / teams }

func teamName(team int) string { return fmt.Sprintf("team-%d", team) }
