package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var quotaBelowDevice = &lint.Rule{
	ID: "GQ406", Name: "quota-below-device", Severity: lint.Warning,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A quota is smaller than the smallest device it is for",
		Why: "A device is charged whole. A quota below the smallest one admits nothing by itself: the queue works " +
			"only while it can borrow.",
		Bad:   "resources: [{name: gpu.memory, nominalQuota: 4Gi}]   # the smallest partition has 4864Mi\n",
		Good:  "resources: [{name: gpu.memory, nominalQuota: 4864Mi}]\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		smallest := smallestCounters(p)
		eachQuota(p, func(q quotaAt) {
			least, ok := smallest[q.resource]
			if ok && !q.value.IsZero() && q.value.Cmp(least) < 0 && q.value.Value() >= smallestBytes &&
				p.Need(cluster.ResourceSlice) {
				p.Report(lint.Diagnostic{At: q.at, Message: fmt.Sprintf("a quota of %s for %s admits nothing by "+
					"itself: the smallest device has %s", q.value.String(), q.resource, least.String()),
					Help: "give at least that much, or 0 for a queue that only borrows"})
			}
		})
	},
}

// smallestCounters are the smallest values of the counters that quota resources are charged by, over the devices that
// match.
func smallestCounters(p *lint.Pass) map[corev1.ResourceName]resource.Quantity {
	out := map[corev1.ResourceName]resource.Quantity{}
	for _, s := range eachSource(p) {
		row, ok := s.row(p)
		if s.capacity || !ok {
			continue
		}
		name := corev1.ResourceName(s.resource)
		for slice, d := range p.Inventory().Match(row).Devices() {
			q := device.LargestCounter(d, s.name, p.Config.Behavior.CounterMaxOverAllSets)
			if slice.Object.Spec.Driver != s.driver || q.IsZero() {
				continue
			}
			if least, seen := out[name]; !seen || q.Cmp(least) < 0 {
				out[name] = q
			}
		}
	}
	return out
}

var quotaAboveDevices = &lint.Rule{
	ID: "GQ407", Name: "quota-above-devices", Severity: lint.Info,
	Needs: kinds(cluster.ResourceSlice, cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "The quotas for a device class add up to more devices than are published",
		Why: "Quota beyond the devices there are admits workloads whose pods are never scheduled. That may be meant, " +
			"for nodes that are added on demand.",
		Bad:   "resources: [{name: whole-gpus, nominalQuota: 64}]   # the cluster has 8\n",
		Good:  "resources: [{name: whole-gpus, nominalQuota: 8}]\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, m := range p.Config.Mappings() {
			if len(m.Sources) > 0 || p.Snapshot.List(cluster.ResourceSlice) == nil ||
				!p.Need(cluster.ResourceSlice, cluster.DeviceClass) {
				continue
			}
			devices, known := int64(0), true
			for _, name := range m.DeviceClassNames {
				class, _, ok := cluster.Lookup[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass, "",
					string(name))
				if !ok {
					continue
				}
				row, compiled := p.Inventory().Row(class.Spec.Selectors)
				matched, failing := p.Inventory().Match(row).Counts()
				devices, known = devices+matched, known && compiled && failing == 0
			}
			quota, last := int64(0), lint.Place{}
			eachQuota(p, func(q quotaAt) {
				if q.resource == m.Name {
					quota, last = quota+q.value.Value(), q.at
				}
			})
			if known && devices > 0 && quota > devices {
				are := "are"
				if devices == 1 {
					are = "is"
				}
				p.Report(lint.Diagnostic{At: last,
					Related: []lint.Place{p.Configured(m.Path + ".name").Saying("charged by number")},
					Message: fmt.Sprintf("the quotas for %s add up to %d, and %s of its classes %s published", m.Name,
						quota, plural(int(devices), "device"), are)})
			}
		}
	},
}
