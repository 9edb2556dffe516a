package workload

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"

// Codes of a Reason. They are stable.
const (
	// The kind or the object is outside Kueue's care.
	FrameworkDisabled    = "FrameworkDisabled"
	NamespaceNotSelected = "NamespaceNotSelected"
	NoQueueName          = "NoQueueName"
	BeingDeleted         = "BeingDeleted"
	HasEnded             = "HasEnded"
	ExistingRayCluster   = "ExistingRayCluster"
	NotMarkedManaged     = "NotMarkedManaged"

	// Its pods are charged by another object's Workload.
	OwnerIsCharged  = "OwnerIsCharged"
	PodsAreCharged  = "PodsAreCharged"
	PartOfPodSet    = "PartOfPodSet"
	ManagedByOther  = "ManagedByOther"
	NotYetInCluster = "NotYetInCluster"

	// It waits for ever.
	OwnerNotFound         = "OwnerNotFound"
	OwnerChainTooLong     = "OwnerChainTooLong"
	TooManyPodSets        = "TooManyPodSets"
	NoPodSets             = "NoPodSets"
	PodFrameworkImplicit  = "PodFrameworkImplicit"
	PriorityClassNotFound = "PriorityClassNotFound"
	GroupQueuesDiffer     = "GroupQueuesDiffer"
	GroupTotalsDiffer     = "GroupTotalsDiffer"
	WorkloadNameTaken     = "WorkloadNameTaken"

	// Kueue waits for something before it makes a Workload.
	GroupIncomplete         = "GroupIncomplete"
	PrebuiltWorkloadMissing = "PrebuiltWorkloadMissing"
	ScaledToZero            = "ScaledToZero"
	OnHold                  = "OnHold"

	// How the answer was reached, and what to know about it.
	ConfigurationAssumed = "ConfigurationAssumed"
	QueueDefaulted       = "QueueDefaulted"
	QueueLeftEmpty       = "QueueLeftEmpty"
	SelectorNotAsked     = "SelectorNotAsked"
	RefusedByWebhook     = "RefusedByWebhook"
	OwnerNotInInput      = "OwnerNotInInput"
	OwnerReplaced        = "OwnerReplaced"
	ClaimsLost           = "ClaimsLost"
	DecidedByChance      = "DecidedByChance"
	RuntimeNotFound      = "RuntimeNotFound"
	NamespaceUnknown     = "NamespaceUnknown"
	ListCut              = "ListCut"
	TakenFromManifest    = "TakenFromManifest"
)

// Paths of the labels and annotations that decide.
const (
	queueLabelPath    = `metadata.labels["kueue.x-k8s.io/queue-name"]`
	priorityLabelPath = `metadata.labels["kueue.x-k8s.io/priority-class"]`
	deletionPath      = "metadata.deletionTimestamp"
	ownersPath        = "metadata.ownerReferences"
	statusPath        = "status"
)

func reason(code, text string, object *cluster.Object, path string) Reason {
	r := Reason{Code: code, Text: text, Path: path}
	if object != nil {
		r.Object = object.Ref
	}
	return r
}
