package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var unknownGate = &lint.Rule{
	ID: "GQ107", Name: "unknown-feature-gate", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A feature gate is not known to this version of Kueue",
		Why: "The manager does not start with a gate it does not know. Gates come and go with releases: those of " +
			"Dynamic Resource Allocation were renamed in 0.18.",
		Bad:   "featureGates: {DRAExtendedResources: true}   # Kueue 0.19\n",
		Good:  "featureGates: {KueueDRAIntegrationExtendedResource: true}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/installation/#change-the-feature-gates-configuration"},
	},
	Check: func(p *lint.Pass) {
		gates := p.Config.Configuration.FeatureGates
		for _, name := range slices.Sorted(maps.Keys(gates)) {
			at := p.Configured(fmt.Sprintf("featureGates[%q]", name)).Name()
			if p.Config.KnowsGate(name) {
				if _, own := p.Config.Gates[name]; !own && renamedGates[name] != "" {
					p.Report(lint.Diagnostic{At: at, Severity: lint.Warning, Help: aboutUnknownGate(p, name),
						Message: fmt.Sprintf("feature gate %s is one of the libraries Kueue %s is built with: it "+
							"changes nothing that Kueue does", name, p.Config.Version)})
				}
				continue
			}
			if len(release.GatesOf(p.Config.Release).Unannounced(map[string]bool{name: gates[name]})) > 0 {
				p.Report(lint.Diagnostic{At: at, Severity: lint.Warning, Help: aboutUnknownGate(p, name),
					Message: fmt.Sprintf("feature gate %s is not known here: if Kueue %s does not know it, it does "+
						"not start", name, p.Config.Version)})
				continue
			}
			p.Report(lint.Diagnostic{At: at,
				Message: fmt.Sprintf("feature gate %s is not known to Kueue %s, which does not start with it", name,
					p.Config.Version),
				Help: aboutUnknownGate(p, name)})
		}
	},
}

// renamedGates are the names that gates of Dynamic Resource Allocation have from Kueue 0.18 on.
var renamedGates = map[string]string{
	release.DynamicResourceAllocation:           release.KueueDRAIntegration,
	release.DRAExtendedResources:                release.KueueDRAIntegrationExtendedResource,
	"DRAExtendedResource":                       release.KueueDRAIntegrationExtendedResource,
	"DRAPartitionableDevices":                   release.KueueDRAIntegrationPartitionableDevices,
	"DRAConsumableCapacity":                     release.KueueDRAIntegrationConsumableCapacity,
	release.KueueDRAIntegration:                 release.DynamicResourceAllocation,
	release.KueueDRAIntegrationExtendedResource: release.DRAExtendedResources,
}

func aboutUnknownGate(p *lint.Pass, name string) string {
	if other, ok := renamedGates[name]; ok && p.Config.KnowsGate(other) {
		return "in this version it is called " + other
	}
	if known := release.WithGate(name); len(known) > 0 {
		return fmt.Sprintf("releases that know it: %s to %s; remove it", known[0], known[len(known)-1])
	}
	for _, other := range p.Config.GateNames() {
		if strings.EqualFold(other, name) || len(name) > 6 &&
			strings.Contains(strings.ToLower(other), strings.ToLower(name)) {
			return "did you mean " + other + "?"
		}
	}
	return "remove it"
}
