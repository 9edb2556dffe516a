package queuestate

import (
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// CauseKind is a kind of reason for which a queue takes no workloads.
type CauseKind int

const (
	// Terminating: the ClusterQueue is being deleted.
	Terminating CauseKind = iota + 1
	// Stopped: the queue's own stop policy. Value is the policy.
	Stopped
	// FlavorNotFound, of the flavor in Names.
	FlavorNotFound
	// CheckNotFound, of the admission check in Names.
	CheckNotFound
	// CheckInactive: the admission check in Names says that it is not active.
	CheckInactive
	// SeveralMultiKueue: the checks in Names are all of MultiKueue, and one is allowed.
	SeveralMultiKueue
	// MultiKueuePerFlavor: the MultiKueue checks in Names leave flavors of the queue out.
	MultiKueuePerFlavor
	// MultiKueueWithProvisioning: MultiKueue checks, in Names, beside checks of ProvisioningRequests, in Others.
	MultiKueueWithProvisioning
	// TopologyNotFound: the topology in Names, by which the flavor in Others places.
	TopologyNotFound
	// CohortCycle: the cohort in Names is its own ancestor. Kueue's condition does not tell.
	CohortCycle
	// Reported: the queue says so itself, and the objects do not show why. Value is its reason and message.
	Reported
	// ClusterQueueNotFound, of a LocalQueue: the ClusterQueue in Names does not exist.
	ClusterQueueNotFound
	// ClusterQueueInactive, of a LocalQueue: the ClusterQueue in Names is not active.
	ClusterQueueInactive
)

// Cause is one reason for which a queue takes no workloads.
type Cause struct {
	Kind CauseKind
	// Names of the objects to blame, and Others of those they do not go together with; see the kinds.
	Names, Others []string
	// Path is the field of the queue that leads to it, and Value what it holds where that is worth saying.
	Path, Value string
}

// reasons are what Kueue gives for a ClusterQueue as the reason of its condition, and how its message begins to speak
// of it. The order is the one in which Kueue names several. Causes without a reason are not told by a condition.
var reasons = []struct {
	kind         CauseKind
	reason, text string
}{
	{Stopped, kueue.ClusterQueueActiveReasonStopped, "is stopped"},
	{FlavorNotFound, kueue.ClusterQueueActiveReasonFlavorNotFound, "references missing ResourceFlavor(s): "},
	{CheckNotFound, kueue.ClusterQueueActiveReasonAdmissionCheckNotFound, "references missing AdmissionCheck(s): "},
	{CheckInactive, kueue.ClusterQueueActiveReasonAdmissionCheckInactive, "references inactive AdmissionCheck(s): "},
	{SeveralMultiKueue, kueue.ClusterQueueActiveReasonMultipleMultiKueueAdmissionChecks,
		"Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: "},
	{MultiKueuePerFlavor, kueue.ClusterQueueActiveReasonMultiKueueAdmissionCheckAppliedPerFlavor,
		"Cannot specify MultiKueue AdmissionCheck per flavor, found: "},
	{MultiKueueWithProvisioning, kueue.ClusterQueueActiveReasonMultiKueueWithProvisioningRequest,
		"Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: "},
	{TopologyNotFound, kueue.ClusterQueueActiveReasonTopologyNotFound, ""},
}

const (
	readyReason        = "Ready"
	clusterQueueReady  = "Can admit new workloads"
	clusterQueueGoing  = "Can't admit new workloads; clusterQueue is terminating"
	clusterQueueClosed = "Can't admit new workloads: "
)

// condition is what Kueue writes about a ClusterQueue for causes that all objects show.
func condition(causes []Cause) (reason, message string) {
	var messages []string
	for _, r := range reasons {
		of := only(causes, r.kind)
		if len(of) == 0 {
			continue
		}
		if reason == "" {
			reason = r.reason
		}
		messages = append(messages, conditionTexts(r.kind, r.text, of)...)
	}
	if reason == "" {
		return readyReason, clusterQueueReady // of a queue below a cycle of cohorts as well
	}
	return reason, clusterQueueClosed + strings.Join(messages, ", ") + "."
}

// conditionTexts are the parts of a condition's message for causes of one kind: one for all, or one for each topology.
func conditionTexts(kind CauseKind, text string, causes []Cause) []string {
	var names []string
	for _, c := range causes {
		names = append(names, c.Names...)
	}
	switch kind {
	case Stopped:
		return []string{text}
	case TopologyNotFound:
		var out []string
		for _, c := range causes {
			out = append(out, fmt.Sprintf("there is no Topology %q for TAS flavor %q", c.Names[0], c.Others[0]))
		}
		slices.Sort(out)
		return out
	case FlavorNotFound: // in the order of the queue
	default:
		slices.Sort(names)
		names = slices.Compact(names)
	}
	out := text + strings.Join(names, ",")
	if kind == MultiKueueWithProvisioning {
		out += ", " + strings.Join(causes[0].Others, ",")
	}
	return []string{out}
}

func only(causes []Cause, kind CauseKind) []Cause {
	var out []Cause
	for _, c := range causes {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// texts put a cause into words that follow "the queue is inactive: ". NAMES, OTHERS and VALUE stand for its fields.
var texts = map[CauseKind]string{
	Terminating:         "it is being deleted (metadata.deletionTimestamp)",
	Stopped:             "it is stopped (spec.stopPolicy VALUE)",
	FlavorNotFound:      "ResourceFlavor NAMES does not exist",
	CheckNotFound:       "AdmissionCheck NAMES does not exist",
	CheckInactive:       "AdmissionCheck NAMES is not active",
	SeveralMultiKueue:   "AdmissionChecks NAMES are all of MultiKueue, and a ClusterQueue can have one",
	MultiKueuePerFlavor: "AdmissionCheck NAMES is of MultiKueue and leaves flavors of the queue out (onFlavors)",
	MultiKueueWithProvisioning: "AdmissionCheck NAMES is of MultiKueue, and OTHERS makes ProvisioningRequests: the " +
		"two don't go together",
	TopologyNotFound:     "Topology NAMES of ResourceFlavor OTHERS does not exist",
	CohortCycle:          "Cohort NAMES is its own ancestor (spec.parentName)",
	Reported:             "it says so itself (VALUE)",
	ClusterQueueNotFound: "there is no ClusterQueue NAMES",
	ClusterQueueInactive: "ClusterQueue NAMES is inactive",
}

// Text puts the cause into words for people; they follow "the queue is inactive: ".
func (c Cause) Text() string {
	return strings.NewReplacer("NAMES", strings.Join(c.Names, ", "), "OTHERS", strings.Join(c.Others, ", "), "VALUE",
		c.Value).
		Replace(texts[c.Kind])
}
