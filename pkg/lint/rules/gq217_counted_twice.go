package rules

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var countedTwice = &lint.Rule{
	ID: "GQ217", Name: "gpu-and-partitions-without-counters", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A whole GPU and its partitions are published without shared counters",
		Why: "A GPU and the partitions it can be cut into are the same hardware. Only counters that both consume " +
			"from keep the scheduler from giving away both. Without them the devices, and the quota made for them, " +
			"are counted twice.",
		Bad: "devices:\n- {name: gpu-0, attributes: {uuid: {string: GPU-1}}}\n- {name: gpu-0-mig-1g, attributes: " +
			"{parentUUID: {string: GPU-1}}}\n",
		Good: "- name: gpu-0\n  attributes: {uuid: {string: GPU-1}}\n  consumesCounters: [{counterSet: gpu-0, " +
			"counters: {memory: {value: 80Gi}}}]\n",
		Since: "Kubernetes 1.33",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		type published struct {
			record *cluster.Object
			index  int
			device *cluster.Device
		}
		type hardware struct{ driver, pool, uuid string }
		wholes := map[hardware]published{}
		each := func(visit func(of hardware, at published)) {
			for o, s := range cluster.All[*cluster.DeviceSlice](p.Snapshot, cluster.ResourceSlice) {
				for i := range s.Spec.Devices {
					visit(hardware{s.Spec.Driver, s.Spec.Pool.Name, ""}, published{o, i, &s.Spec.Devices[i]})
				}
			}
		}
		each(func(of hardware, at published) {
			of.uuid = device.AttributeText(at.device, "uuid")
			if of.uuid != "" && device.AttributeText(at.device, "parentUUID") == "" {
				wholes[of] = at
			}
		})
		told := map[hardware]bool{}
		each(func(of hardware, at published) {
			of.uuid = device.AttributeText(at.device, "parentUUID")
			whole, ok := wholes[of]
			if of.uuid == "" || !ok || told[of] || shareCounters(at.device, whole.device) {
				return
			}
			told[of] = true
			p.Report(lint.Diagnostic{At: lint.At(whole.record, fmt.Sprintf("spec.devices[%d].name", whole.index)),
				Related: []lint.Place{lint.At(at.record,
					fmt.Sprintf("spec.devices[%d].name", at.index)).Saying("a part of it")},
				Message: fmt.Sprintf("device %s and its partition %s consume no common counters: the same hardware "+
					"can be given out twice", whole.device.Name, at.device.Name),
				Help: "let the driver publish shared counters that both consume, or either whole GPUs or partitions"})
		})
	},
}

func shareCounters(a, b *cluster.Device) bool {
	return slices.ContainsFunc(a.ConsumesCounters, func(x resourcev1.DeviceCounterConsumption) bool {
		return slices.ContainsFunc(b.ConsumesCounters,
			func(y resourcev1.DeviceCounterConsumption) bool { return x.CounterSet == y.CounterSet })
	})
}
