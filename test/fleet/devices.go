package fleet

import (
	"fmt"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeDevices writes the slices in the layout of NVIDIA's driver: a pool for each node, in it one
// slice with the counters of all its GPUs and one slice with the devices of each.
func writeDevices(out *list, s Size) {
	for n := range s.Nodes {
		node := fmt.Sprintf("gpu-node-%04d", n)
		out.add(counterSlice(node, s.GPUs))
		for g := range s.GPUs {
			out.add(deviceSlice(node, n, g, s.GPUs))
		}
	}
}

func newSlice(node, suffix string, gpus int) *resourceapi.ResourceSlice {
	return &resourceapi.ResourceSlice{
		TypeMeta:   metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSlice"},
		ObjectMeta: metav1.ObjectMeta{Name: node + "-" + driver + "-" + suffix},
		Spec: resourceapi.ResourceSliceSpec{
			Driver:   driver,
			NodeName: &node,
			Pool:     resourceapi.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: int64(1 + gpus)},
		},
	}
}

func counterSlice(node string, gpus int) *resourceapi.ResourceSlice {
	slice := newSlice(node, "counters", gpus)
	for g := range gpus {
		slice.Spec.SharedCounters = append(slice.Spec.SharedCounters,
			resourceapi.CounterSet{Name: counterSet(g), Counters: counters(whole, 0)})
	}
	return slice
}

func deviceSlice(node string, n, g, gpus int) *resourceapi.ResourceSlice {
	slice := newSlice(node, fmt.Sprintf("gpu-%d", g), gpus)
	uuid := fmt.Sprintf("GPU-%08x-0000-4000-8000-%012x", n, g)
	slice.Spec.Devices = append(slice.Spec.Devices, device(fmt.Sprintf("gpu-%d", g), g, whole, 0, map[string]string{
		"type": "gpu", "productName": product, "uuid": uuid,
	}))
	for _, p := range profiles {
		for _, start := range p.starts {
			name := fmt.Sprintf("gpu-%d-mig-%s-%d-%d", g, strings.ReplaceAll(p.name, ".", ""), p.id, start)
			slice.Spec.Devices = append(slice.Spec.Devices, device(name, g, p, start, map[string]string{
				"type": "mig", "productName": product, "parentUUID": uuid, "profile": p.name,
			}))
		}
	}
	return slice
}

func device(name string, g int, p profile, start int, attributes map[string]string) resourceapi.Device {
	d := resourceapi.Device{
		Name:       name,
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{
			"memory":          {Value: resource.MustParse(mi(p.memoryMi))},
			"multiprocessors": {Value: *resource.NewQuantity(p.multiprocessors, resource.DecimalSI)},
		},
		ConsumesCounters: []resourceapi.DeviceCounterConsumption{{CounterSet: counterSet(g),
			Counters: counters(p, start)}},
	}
	for key, value := range attributes {
		d.Attributes[resourceapi.QualifiedName(key)] = resourceapi.DeviceAttribute{StringValue: &value}
	}
	return d
}

func counterSet(g int) string { return fmt.Sprintf("gpu-%d-counter-set", g) }

// counters of a device that begins at a memory slice.
func counters(p profile, start int) map[string]resourceapi.Counter {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	out := map[string]resourceapi.Counter{
		"memory":          {Value: resource.MustParse(mi(p.memoryMi))},
		"multiprocessors": {Value: *resource.NewQuantity(p.multiprocessors, resource.DecimalSI)},
	}
	for i := range p.slices {
		out[fmt.Sprintf("memory-slice-%d", start+i)] = resourceapi.Counter{Value: one}
	}
	return out
}
