package release

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
