package audit

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// devices lists what is published, by kind.
func (b *builder) devices() {
	of := map[device.Kind]*Devices{}
	for _, c := range b.stock.Counts() {
		of[c.Kind] = &Devices{Kind: c.Kind, Published: c.Published, Tainted: c.Tainted, Incomplete: c.Unusable,
			Allocated: Cell{quota.Amount(c.Allocated + c.Shared), b.stock.Known}, Free: Cell{quota.Amount(c.Free),
				b.stock.Known && !c.AtLeast}}
	}
	for _, pool := range b.stock.Pools {
		for _, g := range pool.Groups {
			for _, u := range g.Devices {
				if usable(u) {
					of[g.Kind].Healthy++
				}
			}
		}
	}
	b.classes(of)
	for _, kind := range slices.SortedFunc(maps.Keys(of), device.Kind.Compare) {
		d := of[kind]
		for _, name := range d.Classes {
			if class := cluster.As[*resourcev1.DeviceClass](b.snap.Get(cluster.DeviceClass, "", name)); class != nil {
				for _, resource := range b.chargedTo(class) {
					if !slices.Contains(d.Charged, resource) {
						d.Charged = append(d.Charged, resource)
					}
				}
			}
		}
		slices.Sort(d.Charged)
		b.out.Devices = append(b.out.Devices, *d)
	}
	b.plugins()
}

// classes names the classes that match devices of each kind.
func (b *builder) classes(of map[device.Kind]*Devices) {
	for _, class := range cluster.All[*resourcev1.DeviceClass](b.snap, cluster.DeviceClass) {
		row, ok := b.Inventory().Row(class.Spec.Selectors)
		if !ok {
			continue
		}
		for slice, i := range b.Inventory().Match(row).Indexes() {
			if u := b.stock.At(slice, i); u != nil {
				of[u.Group().Kind].takeClass(class.Name)
			}
		}
	}
}

func (d *Devices) takeClass(name string) {
	if i, there := slices.BinarySearch(d.Classes, name); !there {
		d.Classes = slices.Insert(d.Classes, i, name)
	}
}

// plugins lists what device plugins offer on nodes.
func (b *builder) plugins() {
	type key struct {
		resource corev1.ResourceName
		model    string
	}
	of := map[key]*Devices{}
	taken := b.taken()
	for _, node := range cluster.All[*corev1.Node](b.snap, cluster.Node) {
		for name, q := range node.Status.Capacity {
			if !strings.Contains(string(name), "/") || !OfDevices(name) {
				continue
			}
			k := key{name, node.Labels[productLabel]}
			if of[k] == nil {
				of[k] = &Devices{Resource: name, Kind: device.Kind{Model: k.model},
					Charged: []corev1.ResourceName{name}, Allocated: Cell{Known: taken != nil}}
			}
			free := node.Status.Allocatable[name]
			of[k].Published += q.Value()
			of[k].Healthy += free.Value()
			of[k].Allocated.Amount += taken[pluginUse{node.Name, name}]
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(of), func(x, y key) int {
		return strings.Compare(string(x.resource)+"\x00"+x.model, string(y.resource)+"\x00"+y.model)
	}) {
		d := of[k]
		d.Free = Of(quota.Amount(d.Healthy)).Minus(d.Allocated)
		b.out.Devices = append(b.out.Devices, *d)
	}
}

// productLabel is the model of a node's GPUs, as NVIDIA's feature discovery writes it.
const productLabel = "nvidia.com/gpu.product"

// pluginUse is a node's resource.
type pluginUse struct {
	node     string
	resource corev1.ResourceName
}

// taken is what running pods have of device plugins; nil when the pods are not in the input.
func (b *builder) taken() map[pluginUse]quota.Amount {
	if !b.snap.Coverage.Has(cluster.Pod) {
		return nil
	}
	out := map[pluginUse]quota.Amount{}
	for _, pod := range cluster.All[*corev1.Pod](b.snap, cluster.Pod) {
		if running(pod) {
			for name, n := range pluginDevices(pod) {
				out[pluginUse{pod.Spec.NodeName, name}] += quota.Amount(n)
			}
		}
	}
	return out
}
