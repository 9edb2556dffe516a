package kueueconf

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var featureGatesPath = field.NewPath("featureGates")

// kueueDependencies are the dependencies of Kueue's own gates, in the order it checks them.
// A gate that a release does not know is never on.
var kueueDependencies = []gateDependency{
	{TASHandleOverlappingFlavors, []string{TopologyAwareScheduling}},
	{TASFailedNodeReplacement, []string{TopologyAwareScheduling}},
	{TASFailedNodeReplacementFailFast, []string{TopologyAwareScheduling, TASFailedNodeReplacement}},
	{TASReplaceNodeOnPodTermination, []string{TopologyAwareScheduling, TASFailedNodeReplacement}},
	{TASReplaceNodeDueToNotReadyOverFixedTime, []string{TopologyAwareScheduling, TASFailedNodeReplacement}},
	{TASBalancedPlacement, []string{TopologyAwareScheduling}},
	{TASReplaceNodeOnNodeTaints, []string{TopologyAwareScheduling}},
	{TASMultiLayerTopology, []string{TopologyAwareScheduling}},
	{TASRespectNodeAffinityPreferred, []string{TopologyAwareScheduling}},
	{TASRecomputeAssignmentWithinSchedulingCycle, []string{TopologyAwareScheduling}},
	{UnadmittedWorkloadsExplicitStatus, []string{UnadmittedWorkloadsObservability}},
	{ElasticJobsViaWorkloadSlicesWithTAS, []string{ElasticJobsViaWorkloadSlices, TopologyAwareScheduling}},
	{DRAExtendedResources, []string{DynamicResourceAllocation}},
	{KueueDRAIntegrationExtendedResource, []string{KueueDRAIntegration}},
	{KueueDRAIntegrationPartitionableDevices, []string{KueueDRAIntegration}},
	{KueueDRAIntegrationConsumableCapacity, []string{KueueDRAIntegration}},
}

// mainDependencies are further dependencies on main.
var mainDependencies = []gateDependency{
	{TASProfileMixed, []string{TopologyAwareScheduling}},
	{FlavorFungibilityPreserveScanProgress, []string{FlavorFungibility}},
}

// uncheckedDependencies are dependencies that exist without being checked in some releases.
var uncheckedDependencies = map[string]releaseSet{
	TASRecomputeAssignmentWithinSchedulingCycle: until("v0.18.5", "v0.19.1", Main),
}

// gateInput is where values of feature gates come from.
type gateInput struct {
	// flag is the value of --feature-gates in the manager's Deployment.
	flag string
	// configured is featureGates of the Configuration; nil when it is not there.
	configured map[string]bool
	// user are the values given on our own command line; they win.
	user map[string]bool
}

// resolveGates returns the effective values of Kueue's own gates and the refusal they lead to.
func resolveGates(release string, in gateInput) (map[string]bool, refusal) {
	g := gatesOf(release)
	values, shown, err := in.values()
	effective, setErr := g.set(values)
	if err == nil {
		err = setErr
	}
	own := map[string]bool{}
	for name := range g.kueue {
		own[name] = effective[name]
	}
	return own, g.refuse(in, shown, err, effective)
}

// values merges the inputs. shown is what Kueue prints as the invalid value.
func (in gateInput) values() (values map[string]bool, shown any, err error) {
	values = maps.Clone(in.configured)
	if in.flag != "" {
		values, err = ParseFeatureGates(in.flag)
	}
	if len(in.user) == 0 {
		if in.flag != "" {
			return values, in.flag, err
		}
		return values, values, err
	}
	if values == nil {
		values = map[string]bool{}
	}
	maps.Copy(values, in.user)
	if in.flag != "" && err == nil {
		return values, formatFeatureGates(values), nil
	}
	if in.flag != "" {
		return values, in.flag, err
	}
	return values, values, err
}

// refuse is the check of feature gates at start, in the order and words of the release.
func (g gateSet) refuse(in gateInput, shown any, setErr error, effective map[string]bool) refusal {
	var both field.ErrorList
	if in.flag != "" && in.configured != nil {
		both = field.ErrorList{field.Invalid(featureGatesPath, in.configured, "feature gates for CLI and configuration cannot both specified")}
	}
	if dialectOf(g.release).gatesSetAfterCheck {
		if both == nil && setErr != nil {
			return refusal{stage: stageSetGates, err: setErr}
		}
		return refuseFields(stageGates, both)
	}
	if both != nil && sinceMain.has(g.release) {
		return refuseFields(stageGates, both)
	}
	if setErr != nil {
		return refuseFields(stageGates, field.ErrorList{field.Invalid(featureGatesPath, shown, setErr.Error())})
	}
	return refuseFields(stageGates, append(both, g.dependencyErrors(effective)...))
}

// dependencyErrors are the dependencies Kueue itself checks.
func (g gateSet) dependencyErrors(effective map[string]bool) field.ErrorList {
	var errs field.ErrorList
	if effective[TASProfileMixed] && !effective[TopologyAwareScheduling] {
		errs = append(errs, field.Invalid(featureGatesPath, 1, "cannot use a TAS profile with TAS disabled"))
	}
	if sinceMain.has(g.release) {
		return errs
	}
	for _, d := range kueueDependencies {
		if uncheckedDependencies[d.gate].has(g.release) {
			continue
		}
		for _, need := range d.off(effective) {
			errs = append(errs, field.Invalid(featureGatesPath, d.gate, fmt.Sprintf("%s requires %s to be enabled", d.gate, need)))
		}
	}
	return errs
}
