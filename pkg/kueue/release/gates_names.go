package release

// Feature gates of Kueue that change a charge, who is managed, an admission decision or a condition.
// Which of them a version knows, and its defaults, are in the table of gates.
const (
	// DynamicResourceAllocation and DRAExtendedResources are Kueue's gates for DRA in 0.17. See [Config.DRA] and
	// [Config.ExtendedResources], which ask the right gate for the version.
	DynamicResourceAllocation = "DynamicResourceAllocation"
	DRAExtendedResources      = "DRAExtendedResources"

	KueueDRAIntegration                     = "KueueDRAIntegration"
	KueueDRAIntegrationExtendedResource     = "KueueDRAIntegrationExtendedResource"
	KueueDRAIntegrationPartitionableDevices = "KueueDRAIntegrationPartitionableDevices"
	KueueDRAIntegrationConsumableCapacity   = "KueueDRAIntegrationConsumableCapacity"
	KueueDRARejectWorkloadsWhenDRADisabled  = "KueueDRARejectWorkloadsWhenDRADisabled"

	QuotaCheckStrategy                      = "QuotaCheckStrategy"
	ReclaimablePods                         = "ReclaimablePods"
	PartialAdmission                        = "PartialAdmission"
	VectorizedResourceRequests              = "VectorizedResourceRequests"
	WorkloadValidateResourcesAreNonNegative = "WorkloadValidateResourcesAreNonNegative"
	ElasticJobsViaWorkloadSlices            = "ElasticJobsViaWorkloadSlices"
	ElasticJobsViaWorkloadSlicesWithTAS     = "ElasticJobsViaWorkloadSlicesWithTAS"
	FastQuotaReleaseInPodIntegration        = "FastQuotaReleaseInPodIntegration"

	ManagedJobsNamespaceSelectorAlwaysRespected = "ManagedJobsNamespaceSelectorAlwaysRespected"
	LocalQueueDefaulting                        = "LocalQueueDefaulting"
	WorkloadPriorityClassDefaulting             = "WorkloadPriorityClassDefaulting"
	WorkloadIdentifierAnnotations               = "WorkloadIdentifierAnnotations"
	ShortWorkloadNames                          = "ShortWorkloadNames"
	PodIntegrationValidateGroupOwner            = "PodIntegrationValidateGroupOwner"
	SparkApplicationIntegration                 = "SparkApplicationIntegration"
	AdmissionGatedBy                            = "AdmissionGatedBy"
	DisableWaitForPodsReady                     = "DisableWaitForPodsReady"

	FlavorFungibility                               = "FlavorFungibility"
	FlavorFungibilityPreserveScanProgress           = "FlavorFungibilityPreserveScanProgress"
	PrioritySortingWithinCohort                     = "PrioritySortingWithinCohort"
	FairSharingPreemptWithinNominal                 = "FairSharingPreemptWithinNominal"
	FairSharingPrioritizeNonBorrowing               = "FairSharingPrioritizeNonBorrowing"
	AdmissionFairSharing                            = "AdmissionFairSharing"
	LendingLimit                                    = "LendingLimit"
	HierarchicalCohorts                             = "HierarchicalCohorts"
	SchedulingEquivalenceHashing                    = "SchedulingEquivalenceHashing"
	SchedulerTimestampPreemptionBuffer              = "SchedulerTimestampPreemptionBuffer"
	RecomputeAssignmentUponPreemptionTargetsOverlap = "RecomputeAssignmentUponPreemptionTargetsOverlap"
	PrioritizePreemptorWorkloads                    = "PrioritizePreemptorWorkloads"
	PriorityBoost                                   = "PriorityBoost"
	ConcurrentAdmission                             = "ConcurrentAdmission"
	MultiKueue                                      = "MultiKueue"
	MultiKueueOrchestratedPreemption                = "MultiKueueOrchestratedPreemption"

	TopologyAwareScheduling                     = "TopologyAwareScheduling"
	TASProfileMixed                             = "TASProfileMixed"
	TASMultiLayerTopology                       = "TASMultiLayerTopology"
	TASHandleOverlappingFlavors                 = "TASHandleOverlappingFlavors"
	TASRecomputeAssignmentWithinSchedulingCycle = "TASRecomputeAssignmentWithinSchedulingCycle"
	TASBalancedPlacement                        = "TASBalancedPlacement"
	TASRespectNodeAffinityPreferred             = "TASRespectNodeAffinityPreferred"
	TASFailedNodeReplacement                    = "TASFailedNodeReplacement"
	TASFailedNodeReplacementFailFast            = "TASFailedNodeReplacementFailFast"
	TASReplaceNodeOnPodTermination              = "TASReplaceNodeOnPodTermination"
	TASReplaceNodeDueToNotReadyOverFixedTime    = "TASReplaceNodeDueToNotReadyOverFixedTime"
	TASReplaceNodeOnNodeTaints                  = "TASReplaceNodeOnNodeTaints"

	UnadmittedWorkloadsObservability  = "UnadmittedWorkloadsObservability"
	UnadmittedWorkloadsExplicitStatus = "UnadmittedWorkloadsExplicitStatus"
)
