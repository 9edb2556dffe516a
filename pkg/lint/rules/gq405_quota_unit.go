package rules

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var quotaUnit = &lint.Rule{
	ID: "GQ405", Name: "quota-unit", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A quota in bytes looks like a device count, or differs in unit within its cohort",
		Why: "A resource that is charged by a counter or a capacity is measured in what the devices publish, bytes " +
			"for memory. A nominalQuota of 10 is then ten bytes, of which no device is ever admitted; within a " +
			"cohort, one such queue makes the shares of the others meaningless.",
		Bad: "deviceClassMappings:\n- name: gpu.memory\n  sources: [{counter: {name: memory, driver: " +
			"gpu.nvidia.com}}]\n---\nresources: [{name: gpu.memory, nominalQuota: 10}]\n",
		Good:  "resources: [{name: gpu.memory, nominalQuota: 800Gi}]\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA, linkCohort},
	},
	Check: func(p *lint.Pass) {
		inBytes := byteResources(p)
		largest := map[corev1.ResourceName]map[string]quotaAt{}
		eachQuota(p, func(q quotaAt) {
			if !inBytes[q.resource] || q.value.IsZero() {
				return
			}
			if q.value.Value() < smallestBytes {
				p.Report(lint.Diagnostic{At: q.at, Message: fmt.Sprintf("%s is charged in bytes: a quota of %s is %s "+
					"bytes, not that many devices", q.resource, q.value.String(), q.value.String()),
					Help: "write it as an amount of memory, such as 80Gi for each GPU"})
			}
			if q.cohort == "" {
				return
			}
			if largest[q.resource] == nil {
				largest[q.resource] = map[string]quotaAt{}
			}
			if l, ok := largest[q.resource][q.cohort]; !ok || q.value.Cmp(l.value) > 0 {
				largest[q.resource][q.cohort] = q
			}
		})
		eachQuota(p, func(q quotaAt) {
			most, ok := largest[q.resource][q.cohort]
			if !ok || q.value.IsZero() || q.value.Value() < smallestBytes ||
				most.value.Value()/q.value.Value() < unitGap {
				return
			}
			p.Report(lint.Diagnostic{At: q.at, Related: []lint.Place{most.at.Saying("the largest of the cohort")},
				Message: fmt.Sprintf("%s has a quota of %s here and of %s in another queue of cohort %s: the units "+
					"differ", q.resource, q.value.String(), most.value.String(), q.cohort),
				Help: "write all quotas of the resource in the same unit"})
		})
	},
}

const (
	// smallestBytes is less than the memory of any device or partition.
	smallestBytes = 1 << 20
	// unitGap is a factor between quotas of one cohort that only another unit explains.
	unitGap = 1 << 19
)

// byteResources are the resources that a source charges by memory: its name says so, or the devices' values do.
func byteResources(p *lint.Pass) map[corev1.ResourceName]bool {
	out := map[corev1.ResourceName]bool{}
	for _, s := range eachSource(p) {
		values, small := 0, false
		for slice, d := range p.Inventory().All() {
			if slice.Object.Spec.Driver != s.driver {
				continue
			}
			if q := device.LargestCounter(d, s.name, p.Config.Behavior.CounterMaxOverAllSets); !s.capacity &&
				!q.IsZero() {
				values, small = values+1, small || q.Value() < smallestBytes
			}
			if c, ok := d.Capacity[resourceName(s.name)]; ok && s.capacity {
				values, small = values+1, small || c.Value.Value() < smallestBytes
			}
		}
		if values > 0 && !small || values == 0 && strings.Contains(strings.ToLower(s.name), "memory") &&
			!strings.Contains(s.name, "slice") {
			out[corev1.ResourceName(s.resource)] = true
		}
	}
	return out
}

// quotaAt is one nominal quota of the input.
type quotaAt struct {
	resource corev1.ResourceName
	value    resource.Quantity
	at       lint.Place
	queue    *kueue.ClusterQueue
	flavor   string
	cohort   string
}

// eachQuota visits the nominal quotas of all ClusterQueues.
func eachQuota(p *lint.Pass, visit func(quotaAt)) {
	for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
		for i, g := range cq.Spec.ResourceGroups {
			for j, f := range g.Flavors {
				for k, r := range f.Resources {
					visit(quotaAt{resource: r.Name, value: r.NominalQuota, queue: cq, flavor: string(f.Name),
						cohort: string(cq.Spec.CohortName),
						at: lint.At(o,
							fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].resources[%d].nominalQuota", i, j, k))})
				}
			}
		}
	}
}
