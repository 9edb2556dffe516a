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

// laterDependencies are further dependencies from 0.20 on.
var laterDependencies = []gateDependency{
	{KueueDRAIntegrationPrioritizedList, []string{KueueDRAIntegration}},
	{KueueDRADeviceFeasibility, []string{KueueDRAIntegration, TopologyAwareScheduling, TASNodeFeasibilityForAllLevels}},
	{KueueDRAIntegrationDeviceTaints, []string{KueueDRADeviceFeasibility}},
	{SchedulerLibraryIntegration, []string{TopologyAwareScheduling}},
	{TASProfileMixed, []string{TopologyAwareScheduling}},
	{FlavorFungibilityPreserveScanProgress, []string{FlavorFungibility}},
}
