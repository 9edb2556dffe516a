package release

// rule says in which releases a behaviour is present.
type rule struct {
	field func(*Behavior) *bool
	in    releaseSet
}

// rules has one entry for each boolean field of Behavior.
var rules = []rule{
	{func(b *Behavior) *bool { return &b.DRAEnabledByDefault }, since18},
	{func(b *Behavior) *bool { return &b.RejectDRAWhenDisabled }, since18},
	{func(b *Behavior) *bool { return &b.AdminAccessExempt }, since20},
	{func(b *Behavior) *bool { return &b.RejectConstraintsAndConfig }, until("v0.18.2", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.RejectCELSelectors }, until("v0.18.0", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ListAttributes }, since20},
	{func(b *Behavior) *bool { return &b.CheckCELSatisfiability }, since18},
	{func(b *Behavior) *bool { return &b.NilExactlyIsError }, from("v0.18.4", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.SaturateDeviceCount }, from("v0.18.3", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.DRASpecErrorsPermanent }, from("v0.17.5", "v0.18.1", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ExtendedNeedsDeviceClass }, since18},
	{func(b *Behavior) *bool { return &b.ExtendedClassNewest }, august},
	{func(b *Behavior) *bool { return &b.RejectSourceBackedExtended }, since18},
	{func(b *Behavior) *bool { return &b.ExtendedAggregateBeforeMapping }, augustLate},
	{func(b *Behavior) *bool { return &b.ExtendedDropNonPositive }, augustLate},
	{func(b *Behavior) *bool { return &b.SidecarsSummedInExtendedResources }, october},
	{func(b *Behavior) *bool { return &b.ExtendedResidual }, october},
	{func(b *Behavior) *bool { return &b.PrioritizedList }, never},
	{func(b *Behavior) *bool { return &b.CounterSources }, since18},
	{func(b *Behavior) *bool { return &b.CounterMaxOverAllSets }, since19},
	{func(b *Behavior) *bool { return &b.CounterMultipleMappings }, since19},
	{func(b *Behavior) *bool { return &b.CapacitySources }, since19},
	{func(b *Behavior) *bool { return &b.DRAMergeBeforeRounding }, august},
	{func(b *Behavior) *bool { return &b.DeviceClassErrPathFixed }, august},
	{func(b *Behavior) *bool { return &b.BinarySIForSources }, from("v0.18.4", "v0.19.0", "v0.20.0")},

	{func(b *Behavior) *bool { return &b.TransformExactDecimal }, from("v0.17.7", "v0.18.3", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.RetainUnmultiplied }, august},
	{func(b *Behavior) *bool { return &b.TransformSumOutputs }, august},
	{func(b *Behavior) *bool { return &b.TransformClampNegative }, august},
	{func(b *Behavior) *bool { return &b.FloorNegativeRequests }, august},
	{func(b *Behavior) *bool { return &b.RejectNegativeResources }, august},
	{func(b *Behavior) *bool { return &b.PodsKeyCheckedEverywhere }, august},
	{func(b *Behavior) *bool { return &b.ClampCPU }, since18},
	{func(b *Behavior) *bool { return &b.ClampNonCPU }, august},
	{func(b *Behavior) *bool { return &b.SaturateScale }, since18},
	{func(b *Behavior) *bool { return &b.SaturateAddSub }, august},
	{func(b *Behavior) *bool { return &b.LimitIsRequest }, september},
	{func(b *Behavior) *bool { return &b.PodLevelCoversContainers }, october},
	{func(b *Behavior) *bool { return &b.ExcludedInputTransformed }, october},
	{func(b *Behavior) *bool { return &b.ExcludedMultiplierMultiplies }, since20},
	{func(b *Behavior) *bool { return &b.SparkOverheadCharged }, october},
	{func(b *Behavior) *bool { return &b.ReclaimOfPodSet }, october},
	{func(b *Behavior) *bool { return &b.PodLevelResources }, from("v0.17.7", "v0.18.3", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ClampReclaimable }, from("v0.17.7", "v0.18.3", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ReclaimCompletedIndexes }, from("v0.17.8", "v0.18.4", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ReclaimFailedIndexes }, august},
	{func(b *Behavior) *bool { return &b.RayAutoscalerCharged }, since19},
	{func(b *Behavior) *bool { return &b.RaySidecarSubmitterCharged },
		from("v0.17.7", "v0.18.3", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.RayRedisCleanupCharged }, from("v0.17.6", "v0.18.2", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.MPINilReplicaSkipped }, august},

	{func(b *Behavior) *bool { return &b.DefaultLQChecksNamespace }, august},
	{func(b *Behavior) *bool { return &b.SelectorGateLocked }, since19},
	{func(b *Behavior) *bool { return &b.AncestorUIDChecked }, augustLate},
	{func(b *Behavior) *bool { return &b.AnnotationIdentifiers }, since18},
	{func(b *Behavior) *bool { return &b.LongPrebuiltAnnotation }, august},
	{func(b *Behavior) *bool { return &b.PodGroupOwnerValidated }, augustLate},
	{func(b *Behavior) *bool { return &b.RayJobOnHold }, august},
	{func(b *Behavior) *bool { return &b.WPCDefaulting }, since20},
	{func(b *Behavior) *bool { return &b.WFPRDefaulted }, since19},

	{func(b *Behavior) *bool { return &b.AffinityKeysPerFlavor }, from("v0.17.6", "v0.18.2", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.NoCandidatesRankedLast }, august},
	{func(b *Behavior) *bool { return &b.StopAtFirstNoFitResource }, until("v0.18.5", "v0.19.1", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.PreserveScanProgress }, august},
	{func(b *Behavior) *bool { return &b.RecomputeOnOverlap }, since20},
	{func(b *Behavior) *bool { return &b.PreemptorsFirst }, never},
	{func(b *Behavior) *bool { return &b.EquivalenceHashing }, since18},
	{func(b *Behavior) *bool { return &b.AFSPerWorkloadLedger }, augustLate},
	{func(b *Behavior) *bool { return &b.AFSLocalQueuesByKey }, september},
	{func(b *Behavior) *bool { return &b.AFSNonPositiveWeightLast }, august},

	{func(b *Behavior) *bool { return &b.GranularReasons }, since20},
	{func(b *Behavior) *bool { return &b.BypassMessage }, since20},
	{func(b *Behavior) *bool { return &b.NamespaceMsgLower }, from("v0.18.5", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.SortedGreaterKeys }, august},

	{func(b *Behavior) *bool { return &b.GateDepsByLibrary }, since20},
	{func(b *Behavior) *bool { return &b.LinksKubernetesGates }, since19},
	{func(b *Behavior) *bool { return &b.GatesSetAfterCheck }, until("v0.17.4", "v0.18.0", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.GateSourcesCheckedFirst }, since20},
	{func(b *Behavior) *bool { return &b.TASRecomputeDepChecked }, from("v0.18.5", "v0.19.1", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ValidatedAtLoad }, until("v0.18.0", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.SourcesNeedGate }, from("v0.18.1", "v0.19.0", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.ReservedPodsName }, september},
	{func(b *Behavior) *bool { return &b.CapacityNameChecked }, from("v0.19.3", "v0.20.0")},
	{func(b *Behavior) *bool { return &b.Announced }, september},
	{func(b *Behavior) *bool { return &b.ServesV1beta1 }, until("v0.20.0")},
	{func(b *Behavior) *bool { return &b.CustomLabelLimits }, since19},
	{func(b *Behavior) *bool { return &b.TLSErrorsJoined }, since19},
	{func(b *Behavior) *bool { return &b.QuotaCheckStrategyField }, since18},
	{func(b *Behavior) *bool { return &b.ConfigurationOf19 }, since19},
}

// maxPodSets is Behavior.MaxPodSets by release.
var maxPodSets = []struct {
	in  releaseSet
	max int
}{
	{until("v0.18.0", "v0.19.0", "v0.20.0"), 8},
	{from("v0.18.0"), 10},
	{since19, 18},
}

// gateRule ties a behaviour to the gate that switches it in the releases that know the gate.
type gateRule struct {
	field func(*Behavior) *bool
	gate  string
}

var gateRules = []gateRule{
	{func(b *Behavior) *bool { return &b.RejectDRAWhenDisabled }, KueueDRARejectWorkloadsWhenDRADisabled},
	{func(b *Behavior) *bool { return &b.PrioritizedList }, KueueDRAIntegrationPrioritizedList},
	{func(b *Behavior) *bool { return &b.ReservedPodsName }, ReservedResourceNameValidation},
	{func(b *Behavior) *bool { return &b.RejectNegativeResources }, WorkloadValidateResourcesAreNonNegative},
	{func(b *Behavior) *bool { return &b.AnnotationIdentifiers }, WorkloadIdentifierAnnotations},
	{func(b *Behavior) *bool { return &b.PodGroupOwnerValidated }, PodIntegrationValidateGroupOwner},
	{func(b *Behavior) *bool { return &b.WPCDefaulting }, WorkloadPriorityClassDefaulting},
	{func(b *Behavior) *bool { return &b.PreserveScanProgress }, FlavorFungibilityPreserveScanProgress},
	{func(b *Behavior) *bool { return &b.RecomputeOnOverlap }, RecomputeAssignmentUponPreemptionTargetsOverlap},
	{func(b *Behavior) *bool { return &b.PreemptorsFirst }, PrioritizePreemptorWorkloads},
	{func(b *Behavior) *bool { return &b.EquivalenceHashing }, SchedulingEquivalenceHashing},
	{func(b *Behavior) *bool { return &b.GranularReasons }, UnadmittedWorkloadsObservability},
	{func(b *Behavior) *bool { return &b.BypassMessage }, UnadmittedWorkloadsObservability},
}

// Lookup returns what a version of Kueue does with its feature gates at their defaults.
// The error says that the version can't be read; the assumption is not empty when it is not one of the releases known
// and another stands for it.
func Lookup(version string) (b Behavior, assumption string, err error) {
	v, err := Parse(version)
	if err != nil {
		return Behavior{}, "", err
	}
	return Of(v.Release), v.Assumption, nil
}

// Of returns what one of [All] does with its feature gates at their defaults.
func Of(release string) Behavior {
	var b Behavior
	for _, r := range rules {
		*r.field(&b) = r.in.has(release)
	}
	for _, m := range maxPodSets {
		if m.in.has(release) {
			b.MaxPodSets = m.max
		}
	}
	if august.has(release) {
		b.ResourceOrder = FNV64a
	}
	return b
}

// WithGates is the behaviour with the effective gates applied. Gates the release does not know change nothing.
func (b Behavior) WithGates(gates map[string]bool) Behavior {
	for _, r := range gateRules {
		if on, known := gates[r.gate]; known {
			*r.field(&b) = on
		}
	}
	if !gates[VectorizedResourceRequests] {
		b.ResourceOrder = GoMap
	}
	return b
}
