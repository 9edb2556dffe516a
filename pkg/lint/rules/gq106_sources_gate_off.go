package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var sourcesGateOff = &lint.Rule{
	ID: "GQ106", Name: "sources-gate-off", Severity: lint.Error,
	Needs: kinds(cluster.OpenShiftFeatureGate),
	Doc: lint.Doc{
		Title: "A mapping has sources whose feature gate is off",
		Why: "Counter sources need the gate KueueDRAIntegrationPartitionableDevices, capacity sources " +
			"KueueDRAIntegrationConsumableCapacity. With the gate off, newer releases refuse to start and older ones " +
			"ignore the sources and charge by the number of devices.",
		Bad: "featureGates: {KueueDRAIntegrationPartitionableDevices: false}\nresources:\n  deviceClassMappings:\n " +
			" - name: gpu.memory\n    sources: [{counter: {name: memory, driver: gpu.nvidia.com}}]\n",
		Good:  "featureGates: {KueueDRAIntegrationPartitionableDevices: true}\n",
		Since: "counters: Kueue 0.18, on by default from 0.19; capacity: Kueue 0.19, off by default",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, s := range p.Config.Sources() {
			if s.Capacity {
				checkSourceGate(p, s, "capacity", release.KueueDRAIntegrationConsumableCapacity)
			} else {
				checkSourceGate(p, s, "counter", release.KueueDRAIntegrationPartitionableDevices)
			}
		}
	},
}

func checkSourceGate(p *lint.Pass, s config.Source, kind, gate string) {
	if p.Config.Uncertain[gate] != "" {
		p.Need(cluster.OpenShiftFeatureGate)
		return
	}
	if p.Config.Enabled(gate) {
		return
	}
	consequence := "the source is ignored and devices are charged by number"
	if p.Config.Refusal() != "" {
		consequence = "Kueue " + p.Config.Version + " does not start"
	}
	help := "turn the gate on under featureGates, or remove the source"
	if !p.Config.KnowsGate(gate) {
		help = fmt.Sprintf("Kueue %s has no %s sources; remove the source, or take a release that has them",
			p.Config.Version, kind)
	}
	p.Report(lint.Diagnostic{At: p.Configured(s.Path).Name(),
		Message: fmt.Sprintf("%s sources need the feature gate %s, which is off: %s", kind, gate,
			consequence), Help: help})
}
