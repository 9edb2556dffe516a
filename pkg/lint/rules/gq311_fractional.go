package rules

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var fractional = &lint.Rule{
	ID: "GQ311", Name: "fractional-extended-resource", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "An extended resource is requested in a fraction",
		Why: "Extended resources come whole. The API server refuses a pod with a fraction of one; for a name that a " +
			"DeviceClass declares Kueue refuses the workload, for others it may round up and hold quota for pods " +
			"that can't be created.",
		Bad:   "resources:\n  requests: {nvidia.com/gpu: 500m}\n",
		Good:  "resources:\n  requests: {nvidia.com/gpu: 1}\n",
		Since: "every version",
		Links: []string{"https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources"},
	},
	Check: func(p *lint.Pass) {
		const help = "ask for a whole number; to share a device use a partition, or a class with consumable capacity"
		refused := map[string]bool{}
		for _, r := range p.Refusals(charge.CodeFractionalExtended) {
			p.ReportRefusal(r, "", help)
			refused[r.At.Ref.String()+r.At.Path] = true
		}
		for t := range p.PodTemplates() {
			for c := range containers(t.Spec()) {
				for _, name := range slices.Sorted(maps.Keys(c.of.Resources.Requests)) {
					q := c.of.Resources.Requests[name]
					rounded := resource.NewQuantity(q.Value(), resource.DecimalSI) // 2000m is 2
					at := t.At(fmt.Sprintf("%s.resources.requests[%q]", c.path, name))
					if rounded.Cmp(q) == 0 || !isExtended(name) || refused[at.Ref.String()+at.Path] {
						continue
					}
					severity := lint.Warning // the object is made, and its pods are refused later
					if checkedByServer[at.Ref.GroupKind().Group] {
						severity = lint.Error
					}
					p.Report(lint.Diagnostic{At: at, Severity: severity, Help: help,
						Message: fmt.Sprintf("%s is requested in a fraction (%s), but devices come whole", name,
							q.String())})
				}
			}
		}
	},
}

// checkedByServer are the groups whose pod templates the API server checks as it checks pods.
var checkedByServer = map[string]bool{"": true, "apps": true, "batch": true}
