package fleet

import (
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// request is a way to ask for devices: the claim template of that name in every team's namespace.
type request struct {
	name     string
	class    string
	selector string
	count    int64
	// memoryMi is what one pod is charged: the largest device the selector matches, times count.
	memoryMi int64
	// weight is how often the request is drawn.
	weight int
}

const (
	profileIs    = "device.attributes['gpu.nvidia.com'].profile == "
	memoryIs     = "device.capacity['gpu.nvidia.com'].memory"
	partitions   = "mig.nvidia.com"
	wholeDevices = "gpu.nvidia.com"
)

var requests = []request{
	{"mig-1g", partitions, profileIs + "'1g.5gb'", 1, 4864, 30},
	{"mig-1g-twice", partitions, profileIs + "'1g.5gb'", 2, 2 * 4864, 5},
	{"mig-1g-double", partitions, profileIs + "'1g.10gb'", 1, 9984, 10},
	{"mig-2g", partitions, profileIs + "'2g.10gb'", 1, 9984, 10},
	{"mig-3g", partitions, profileIs + "'3g.20gb'", 1, 20096, 10},
	{"mig-7g", partitions, profileIs + "'7g.40gb'", 1, 40320, 5},
	{"mig-any", partitions, "", 1, 40320, 5},
	{"mig-20g", partitions, "device.attributes['gpu.nvidia.com'].profile.endsWith('g.20gb')", 1, 20096, 5},
	{"mig-at-most-10gi", partitions, memoryIs + ".compareTo(quantity('10Gi')) <= 0", 1, 9984, 5},
	{"mig-at-least-16gi", partitions, memoryIs + ".compareTo(quantity('16Gi')) >= 0", 1, 40320, 3},
	{"gpu", wholeDevices, "", 1, 40320, 10},
	{"gpu-a100", wholeDevices, "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A100-SXM4-40GB'", 2,
		2 * 40320, 2},
}

func (r request) template(namespace string) *resourceapi.ResourceClaimTemplate {
	exactly := &resourceapi.ExactDeviceRequest{
		DeviceClassName: r.class,
		AllocationMode:  resourceapi.DeviceAllocationModeExactCount,
		Count:           r.count,
	}
	if r.selector != "" {
		exactly.Selectors = []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: r.selector}}}
	}
	return &resourceapi.ResourceClaimTemplate{
		TypeMeta:   metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaimTemplate"},
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Namespace: namespace},
		Spec: resourceapi.ResourceClaimTemplateSpec{Spec: resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{
			Requests: []resourceapi.DeviceRequest{{Name: "gpu", Exactly: exactly}},
		}}},
	}
}
