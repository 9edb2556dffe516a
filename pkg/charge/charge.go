package charge

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Verdict is what can be said about a workload's charge.
type Verdict string

const (
	// Charged: Total is what Kueue charges.
	Charged Verdict = "Charged"
	// Inadmissible: Kueue refuses the workload; Problems say why, in its words.
	Inadmissible Verdict = "Inadmissible"
	// Unmanaged: Kueue charges nothing, because it does not manage the job.
	Unmanaged Verdict = "Unmanaged"
	// Unknown: the evidence is not in the input, or the version leaves the result to chance.
	Unknown Verdict = "Unknown"
)

// Method is the path by which a resource is charged.
type Method string

const (
	Requests         Method = "Requests"
	DeviceCount      Method = "DeviceCount"
	ExtendedResource Method = "ExtendedResource"
	Counter          Method = "Counter"
	Capacity         Method = "Capacity"
	Transformation   Method = "Transformation"
)

// Charge is what one workload costs.
type Charge struct {
	Workload     *workload.Workload
	ClusterQueue string
	Verdict      Verdict
	PodSets      []PodSet
	// Total per resource over all pod sets, in units of the resource (milli for cpu).
	Total Amounts
	// Published is the sum of status.admission…resourceUsage; nil when the Workload has no admission.
	Published map[corev1.ResourceName]string
	Problems  []Problem
	// Missing lists kinds whose absence keeps the verdict Unknown.
	Missing []string
	// Notes are remarks for people that do not change the verdict.
	Notes []string
}

// PodSet is the charge of one pod set.
type PodSet struct {
	Name string
	// Count of pods charged for; Reclaimable of them have ended and free their share of the usage.
	Count, Reclaimable int64
	// Totals per resource over Count pods, in units of the resource (milli for cpu).
	Totals Amounts
	// Lines are sorted by resource, then in the order Kueue adds them. They explain Totals.
	Lines []Line
	// Spec is the pod's spec as Kueue prices it: with overhead, LimitRange defaults, and limits as missing
	// requests. Shared, not to be changed.
	Spec *corev1.PodSpec
}

// Line is one addend of a pod set's charge.
type Line struct {
	Resource corev1.ResourceName
	// PerPod and Total are in units of the resource (milli for cpu).
	PerPod, Total int64
	Method        Method
	// Derivation reads as a path: each step is one hop from the request to the number.
	Derivation []string
	Evidence   []Evidence
}

// Evidence is one fact a line or problem rests on.
type Evidence struct {
	Object *cluster.Object
	// Ref names the object.
	Ref cluster.Ref
	// Origin is where the object was read, when Object is nil (the Kueue configuration).
	Origin *source.Origin
	// Path of the field, from the root of the object.
	Path  string
	Value string
}

// Subject names the object the fact is about.
func (e Evidence) Subject() cluster.Ref {
	if e.Object != nil {
		return e.Object.Ref
	}
	return e.Ref
}

// ReadFrom is where the fact's object was read; nil when that is not known.
func (e Evidence) ReadFrom() *source.Origin {
	if e.Object != nil {
		return e.Object.Origin
	}
	return e.Origin
}

// Problem is a reason for which Kueue refuses the workload, or for which its charge is unknown.
type Problem struct {
	// Code is stable, for example UnmappedDeviceClass.
	Code string
	// Retryable tells whether Kueue tries again by itself.
	Retryable bool
	// Message is for people: what is wrong and what to do.
	Message string
	// KueueMessage is the QuotaReserved condition's message, character for character. Empty when Kueue writes none.
	KueueMessage string
	// Blocked says, of CodeQueueBlocked, what is wrong with the queue, whether Kueue writes it or not.
	Blocked message.Message
	// Inactive is why the queue in the way is inactive; nil for other problems.
	Inactive *queuestate.Cause
	// Possible lists every text the version may write when it leaves the choice to chance; KueueMessage is then one of
	// them.
	Possible []string
	Evidence []Evidence
}

// Amounts maps a resource to an amount in its units: milli for cpu, else the integer value.
type Amounts map[corev1.ResourceName]int64
