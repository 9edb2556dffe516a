package config

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// chargeGates are the gates that a charge depends on directly.
var chargeGates = []string{
	release.DynamicResourceAllocation,
	release.DRAExtendedResources,
	release.KueueDRAIntegration,
	release.KueueDRAIntegrationExtendedResource,
	release.KueueDRAIntegrationPartitionableDevices,
	release.KueueDRAIntegrationConsumableCapacity,
	release.KueueDRARejectWorkloadsWhenDRADisabled,
	release.QuotaCheckStrategy,
	release.PartialAdmission,
	release.ReclaimablePods,
	release.UnadmittedWorkloadsObservability,
}

// NotableGates are the gates worth showing: those a charge depends on, and those that are not at the
// release's default, at their effective values.
func (c *Config) NotableGates() map[string]bool {
	out := map[string]bool{}
	defaults := release.GatesOf(c.Release).Defaults()
	for name, on := range c.Gates {
		if byDefault, known := defaults[name]; slices.Contains(chargeGates, name) || known && byDefault != on {
			out[name] = on
		}
	}
	return out
}

// KnowsGate tells whether the release knows a feature gate of this name, Kueue's own or one of the libraries it is
// built with.
func (c *Config) KnowsGate(name string) bool { return release.GatesOf(c.Release).Knows(name) }

// GateNames lists the names of Kueue's own gates in the release, sorted.
func (c *Config) GateNames() []string { return release.GatesOf(c.Release).Names() }
