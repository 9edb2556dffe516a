package release

// ResourceOrder is the order in which Kueue's flavor assigner walks the resources of a pod set.
type ResourceOrder int

const (
	// GoMap is the order of a Go map: left to chance in every cycle.
	GoMap ResourceOrder = iota
	// FNV64a is ascending by the FNV-1a-64 hash of the resource name, then by the name.
	FNV64a
)

// String names the order.
func (o ResourceOrder) String() string {
	if o == FNV64a {
		return "FNV64a"
	}
	return "GoMap"
}

// Behavior says what one release of Kueue does where releases differ. True means that the behaviour named is
// present. Fields that a feature gate switches hold its effect: the gate's default in [Lookup], its effective
// value in a [Config]. The engine asks a field, never a version number.
type Behavior struct {
	// How claims and extended resources are charged.

	// DRAEnabledByDefault: resource claims are charged without any gate being set.
	DRAEnabledByDefault bool
	// RejectDRAWhenDisabled: workloads with claims are refused while the DRA gate is off; else their devices are free.
	// Gate KueueDRARejectWorkloadsWhenDRADisabled.
	RejectDRAWhenDisabled bool
	// AdminAccessExempt: a request with adminAccess costs nothing, in every path; else it is refused for good.
	AdminAccessExempt bool
	// RejectConstraintsAndConfig: claim templates with constraints or config are refused.
	RejectConstraintsAndConfig bool
	// RejectCELSelectors: claim templates with CEL selectors are refused.
	RejectCELSelectors bool
	// ListAttributes: the Kubernetes library that evaluates selectors knows attributes that are lists (1.37); else any
	// selector fails on a device that has one.
	ListAttributes bool
	// CheckCELSatisfiability: selectors are checked against the devices of ResourceSlices.
	CheckCELSatisfiability bool
	// NilExactlyIsError: a device request without exactly is a field error; else the manager panics.
	NilExactlyIsError bool
	// SaturateDeviceCount: adding device counts of one template saturates at the largest int64.
	SaturateDeviceCount bool
	// DRASpecErrorsPermanent: errors of claim templates other than Internal are not retried.
	DRASpecErrorsPermanent bool
	// ExtendedNeedsDeviceClass: the DRA path is taken for an extended resource only if a DeviceClass declares its name.
	ExtendedNeedsDeviceClass bool
	// ExtendedClassNewest: of several classes with one extended resource name the newest is used, then the smallest
	// name; else the first mapped one in an arbitrary order, passing over unmapped classes.
	ExtendedClassNewest bool
	// RejectSourceBackedExtended: an extended resource whose class has counter or capacity sources is refused.
	RejectSourceBackedExtended bool
	// ExtendedAggregateBeforeMapping: init containers' maximum and main containers' sum are taken per extended
	// resource name and mapped to the quota resource afterwards, a total beyond int64 is an error, and "resolves to
	// DeviceClass" errors come once per pod set and name; else names are mapped inside each container.
	ExtendedAggregateBeforeMapping bool
	// ExtendedDropNonPositive: zero and negative extended requests are dropped; else only zero ones, and a negative
	// one lowers the charge.
	ExtendedDropNonPositive bool
	// SidecarsSummedInExtendedResources: restartable init containers are added to the main containers.
	SidecarsSummedInExtendedResources bool
	// ExtendedResidual: only what containers themselves request of an extended resource moves to its quota resource;
	// overhead and the output of a transformation stay charged under the original name. Else they are lost.
	ExtendedResidual bool
	// PrioritizedList: a device request with firstAvailable is charged if all alternatives cost the same; else refused.
	// Gate KueueDRAIntegrationPrioritizedList.
	PrioritizedList bool
	// CounterSources: device class mappings may have counter sources.
	CounterSources bool
	// CounterMaxOverAllSets: a device's counter is the maximum over all its counter sets; else that of the first
	// consumesCounters entry that holds the name.
	CounterMaxOverAllSets bool
	// CounterMultipleMappings: a class may be in several mappings with different counters, and a mapping may have
	// several sources.
	CounterMultipleMappings bool
	// CapacitySources: device class mappings may have capacity sources.
	CapacitySources bool
	// DRAMergeBeforeRounding: DRA quantities are added to ordinary ones before rounding to integers; else the rounded
	// value is added with plain integer arithmetic, which wraps.
	DRAMergeBeforeRounding bool
	// DeviceClassErrPathFixed: errors about a DeviceClass in the counter and capacity paths name the request once; else
	// the path ends in a second `.devices.requests[0]`.
	DeviceClassErrPathFixed bool
	// BinarySIForSources: amounts of resources with sources are printed in binary units.
	BinarySIForSources bool

	// How ordinary requests and counts are charged.

	// TransformExactDecimal: transformations multiply exact decimals; else the input is rounded up first.
	TransformExactDecimal bool
	// RetainUnmultiplied: a retained input is kept as requested; else multiplyBy multiplies it too.
	RetainUnmultiplied bool
	// TransformSumOutputs: outputs are added to ordinary requests of the same name; else they overwrite each other or
	// add up, depending on map order.
	TransformSumOutputs bool
	// TransformClampNegative: a negative output total is taken as zero.
	TransformClampNegative bool
	// FloorNegativeRequests: a negative total per pod is taken as zero.
	FloorNegativeRequests bool
	// RejectNegativeResources: the Workload webhook refuses negative requests and limits.
	// Gate WorkloadValidateResourcesAreNonNegative.
	RejectNegativeResources bool
	// PodsKeyCheckedEverywhere: the reserved name `pods` is refused in limits and at pod level too; else only in
	// requests.
	PodsKeyCheckedEverywhere bool
	// ClampCPU: conversion of cpu to milli saturates.
	ClampCPU bool
	// ClampNonCPU: conversion of other quantities to integers saturates.
	ClampNonCPU bool
	// SaturateScale: multiplying by the pod count saturates.
	SaturateScale bool
	// SaturateAddSub: adding and subtracting requests saturates; else it wraps.
	SaturateAddSub bool
	// LimitIsRequest: a container's limit stands for a request it lacks before LimitRange defaults are looked at; else
	// a default request of a LimitRange comes first.
	LimitIsRequest bool
	// PodLevelCoversContainers: requests at pod level below the sum of the containers are charged as that sum.
	PodLevelCoversContainers bool
	// ExcludedInputTransformed: a transformation whose input an excluded prefix matches still gives its outputs.
	ExcludedInputTransformed bool
	// ExcludedMultiplierMultiplies: a multiplyBy resource that an excluded prefix matches still multiplies.
	ExcludedMultiplierMultiplies bool
	// SparkOverheadCharged: cores, memory overhead and its default are charged for a SparkApplication, as Spark
	// requests them; else coreRequest and memory alone.
	SparkOverheadCharged bool
	// ReclaimOfPodSet: a Job with more parallelism than completions frees pods beyond its count; else beyond
	// parallelism.
	ReclaimOfPodSet bool
	// PodLevelResources: spec.resources of pods takes part in LimitRange defaults and checks and in
	// limits standing for requests.
	PodLevelResources bool
	// ClampReclaimable: reclaimable pods are at most the pod set's count.
	ClampReclaimable bool
	// ReclaimCompletedIndexes: completed indexes of an Indexed Job are reclaimable.
	ReclaimCompletedIndexes bool
	// ReclaimFailedIndexes: its permanently failed indexes are, too.
	ReclaimFailedIndexes bool
	// RayAutoscalerCharged: the in-tree autoscaler container of a Ray head is charged.
	RayAutoscalerCharged bool
	// RaySidecarSubmitterCharged: the submitter container of a RayJob in SidecarMode is charged.
	RaySidecarSubmitterCharged bool
	// RayRedisCleanupCharged: a Ray head's request is raised for the Redis cleanup job.
	RayRedisCleanupCharged bool
	// MaxPodSets is the largest number of pod sets in a Workload.
	MaxPodSets int
	// MPINilReplicaSkipped: an MPIJob's empty replica spec is skipped; else the manager panics.
	MPINilReplicaSkipped bool

	// Which jobs Kueue manages.

	// DefaultLQChecksNamespace: the queue named `default` is given to an unlabelled job only in a namespace that
	// managedJobsNamespaceSelector matches.
	DefaultLQChecksNamespace bool
	// SelectorGateLocked: ManagedJobsNamespaceSelectorAlwaysRespected can't be turned off.
	SelectorGateLocked bool
	// AncestorUIDChecked: walking to an ancestor compares the UID of owner references.
	AncestorUIDChecked bool
	// AnnotationIdentifiers: prebuilt workload and pod group names are read from annotations first, then from labels.
	// Gate WorkloadIdentifierAnnotations.
	AnnotationIdentifiers bool
	// LongPrebuiltAnnotation: a prebuilt name over 63 characters in an annotation is honoured with that gate off, too.
	LongPrebuiltAnnotation bool
	// PodGroupOwnerValidated: a pod group refuses a foreign Workload of its name. Gate
	// PodIntegrationValidateGroupOwner.
	PodGroupOwnerValidated bool
	// RayJobOnHold: a RayJob in ValidationFailed gives its quota back.
	RayJobOnHold bool
	// WPCDefaulting: an unlabelled job gets the WorkloadPriorityClass named `default`. Gate
	// WorkloadPriorityClassDefaulting.
	WPCDefaulting bool
	// WFPRDefaulted: waitForPodsReady has defaults when it is absent (v1beta2); else it is off.
	WFPRDefaulted bool

	// Flavor assignment, ordering and preemption.

	// AffinityKeysPerFlavor: node affinity looks at the labels of the flavor at hand; else of its whole resource group.
	AffinityKeysPerFlavor bool
	// NoCandidatesRankedLast: a flavor without preemption candidates ranks below every viable one.
	NoCandidatesRankedLast bool
	// StopAtFirstNoFitResource: a flavor's resources after the first that can't fit are not looked at, so messages
	// name a part of them.
	StopAtFirstNoFitResource bool
	// ResourceOrder is the order of resources in the assigner. Gate VectorizedResourceRequests.
	ResourceOrder ResourceOrder
	// PreserveScanProgress: flavor scan progress is kept across cycles. Gate FlavorFungibilityPreserveScanProgress.
	PreserveScanProgress bool
	// RecomputeOnOverlap: overlapping preemption targets are computed again.
	// Gate RecomputeAssignmentUponPreemptionTargetsOverlap.
	RecomputeOnOverlap bool
	// PreemptorsFirst: workloads waiting for a preemption go first. Gate PrioritizePreemptorWorkloads.
	PreemptorsFirst bool
	// EquivalenceHashing: a workload equal to one that failed is parked unseen. Gate SchedulingEquivalenceHashing.
	EquivalenceHashing bool
	// AFSPerWorkloadLedger: the entry penalty of admission fair sharing is kept for each Workload; else one of a
	// Workload with admission checks may be counted for ever.
	AFSPerWorkloadLedger bool
	// AFSLocalQueuesByKey: whom to preempt is compared by the usage of LocalQueues also where their names in two
	// namespaces are the same.
	AFSLocalQueuesByKey bool
	// AFSNonPositiveWeightLast: LocalQueues with a weight of zero or less sort last; else they may sort first.
	AFSNonPositiveWeightLast bool

	// What Kueue writes into conditions; the gate UnadmittedWorkloadsObservability switches the first five.

	// GranularReasons: QuotaReserved=False has fine-grained reasons; else Pending, Inadmissible or Waiting.
	GranularReasons bool
	// BypassMessage: workloads parked as equal to a failed one are told so (a first condition is still written only
	// under UnadmittedWorkloadsExplicitStatus).
	BypassMessage bool
	// NamespaceMsgLower: the namespace message starts in lower case.
	NamespaceMsgLower bool
	// SortedGreaterKeys: the names in "requests must not exceed its limits", and in the like of LimitRanges, are
	// sorted; else in map order.
	SortedGreaterKeys bool

	// What the manager checks before it starts.

	// GateDepsByLibrary: dependencies of feature gates are checked by the gate library, with its wording.
	GateDepsByLibrary bool
	// LinksKubernetesGates: the manager's registry of gates holds Kubernetes' own, with their dependencies.
	LinksKubernetesGates bool
	// GatesSetAfterCheck: gates are checked at their defaults and set afterwards, so no dependency is ever found
	// missing.
	GatesSetAfterCheck bool
	// GateSourcesCheckedFirst: gates given by flag and by configuration are refused before their names are looked at.
	GateSourcesCheckedFirst bool
	// TASRecomputeDepChecked: TASRecomputeAssignmentWithinSchedulingCycle is refused without TopologyAwareScheduling.
	TASRecomputeDepChecked bool
	// ValidatedAtLoad: the configuration is validated as it is loaded, before feature gates.
	ValidatedAtLoad bool
	// SourcesNeedGate: sources of device class mappings are refused while their gate is off; else they are ignored.
	SourcesNeedGate bool
	// ReservedPodsName: `pods` is refused as the name of a device class mapping and anywhere in a transformation.
	// Gate ReservedResourceNameValidation.
	ReservedPodsName bool
	// CapacityNameChecked: the name of a capacity source with more than one slash is refused; else it never matches.
	CapacityNameChecked bool
	// Announced: what the release changes is known from its release notes, so that its gates may be incomplete and a
	// name unknown here is no error.
	Announced bool
	// ServesV1beta1: Workloads and queues are served in kueue.x-k8s.io/v1beta1, too.
	ServesV1beta1 bool
	// CustomLabelLimits: the number and values of metrics.customLabels are limited.
	CustomLabelLimits bool
	// TLSErrorsJoined: all errors of tls are written; else the last.
	TLSErrorsJoined bool
	// QuotaCheckStrategyField: resources.quotaCheckStrategy is a field of the configuration.
	QuotaCheckStrategyField bool
	// ConfigurationOf19: the fields that 0.19 added to the configuration are in it: sourceKind and trackedValues of
	// metrics.customLabels, multiKueue.incrementalDispatcherConfig and clusterProfile.accessProviders,
	// tls.curvePreferences.
	ConfigurationOf19 bool
}
