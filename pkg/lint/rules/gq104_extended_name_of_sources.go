package rules

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var extendedNameOfSources = &lint.Rule{
	ID: "GQ104", Name: "extended-name-of-sources", Severity: lint.Error,
	Needs: kinds(cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "A class with extendedResourceName is charged by counters or capacity",
		Why: "An extended resource request carries no selector, so Kueue can't tell what it costs in counters or " +
			"capacity. It refuses every workload that requests the name, as long as the class is mapped with sources.",
		Bad: "kind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\nspec:\n  extendedResourceName: nvidia.com/gpu\n---\n" +
			"# Kueue's Configuration\nresources:\n  deviceClassMappings:\n  - name: gpu.memory\n    " +
			"deviceClassNames: [gpu.nvidia.com]\n" +
			"    sources:\n    - counter: {name: memory, driver: gpu.nvidia.com}\n",
		Good: "kind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\nspec: {}\n# requests go through " +
			"ResourceClaimTemplates,\n" +
			"# or the class with the extended name has a mapping without sources\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeSourceBackedExtended) {
			p.ReportRefusal(r, "", "request the devices through a ResourceClaimTemplate, or remove "+
				"extendedResourceName from the class")
		}
		for o, class := range cluster.All[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass) {
			if n := class.Spec.ExtendedResourceName; n != nil && *n != "" && p.Need(cluster.KueueConfiguration) {
				checkSources(p, o, *n)
			}
		}
	},
}

func checkSources(p *lint.Pass, class *cluster.Object, name string) {
	c := p.Config
	if !c.Behavior.RejectSourceBackedExtended || !c.ExtendedResources() {
		return
	}
	what, sources := "", []config.Source(nil)
	switch {
	case c.Enabled(release.KueueDRAIntegrationPartitionableDevices) && len(c.Counters(class.Ref.Name)) > 0:
		what, sources = "counters", c.Counters(class.Ref.Name)
	case c.Enabled(release.KueueDRAIntegrationConsumableCapacity) && len(c.Capacities(class.Ref.Name)) > 0:
		what, sources = "capacity", c.Capacities(class.Ref.Name)
	default:
		return
	}
	at := lint.At(class, "spec.extendedResourceName")
	severity := lint.Warning
	if p.Refused(at) {
		severity = lint.Error
	}
	p.Report(lint.Diagnostic{
		At: at.Saying("DeviceClass " + class.Ref.Name), Severity: severity,
		Message: fmt.Sprintf("every request for %s becomes inadmissible: its class is charged by %s", name, what),
		Help:    "remove extendedResourceName, or give the class a mapping without sources",
		Related: []lint.Place{mappingOf(p,
			class.Ref.Name).Saying(fmt.Sprintf("mapped to %s by %s here", sources[0].Resource, what))},
	})
}
