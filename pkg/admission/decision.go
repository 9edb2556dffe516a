// The answers.

package admission

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// State is where a workload stands, or will.
type State string

const (
	// Admitted: quota is reserved and no admission check is outstanding.
	Admitted State = "Admitted"
	// QuotaReserved: quota is reserved; admission checks are outstanding.
	QuotaReserved State = "QuotaReserved"
	// Preempts: the workload will fit once the workloads it preempts are gone.
	Preempts State = "Preempts"
	// Pending: it waits in its queue.
	Pending State = "Pending"
	// Inadmissible: it is refused before quota is looked at.
	Inadmissible State = "Inadmissible"
	// Evicted: it lost its quota, or is about to.
	Evicted State = "Evicted"
	// Finished: it has ended.
	Finished State = "Finished"
	// Deactivated: spec.active is false.
	Deactivated State = "Deactivated"
	// None: no Workload exists, or would exist.
	None State = "None"
	// Unknown: the evidence is not in the input.
	Unknown State = "Unknown"
)

// Decision is the outcome of one scheduling attempt.
type Decision struct {
	State State
	// Reason and Message of the QuotaReserved condition, in Kueue's words. Empty when Kueue writes none.
	Reason, Message string
	// Possible lists every message the version may write where it leaves the choice to chance; Message is one of them.
	Possible []string
	// PodSets that got flavors; filled for Admitted, QuotaReserved and Preempts.
	PodSets []PodSet
	// Borrows reports whether quota beyond the queue's own is used.
	Borrows bool
	// Targets are the workloads preempted.
	Targets []Target
	// Attempts are the flavors tried, in order.
	Attempts []Attempt
	// Missing lists kinds whose absence leaves the decision unknown, and Why says so in a sentence.
	Missing []string
	Why     string
	// Queue is what the message says of the queue, where that does not take the workload.
	Queue message.Code
}

// PodSet is one pod set with the flavors assigned to it.
type PodSet struct {
	Name  string
	Count int32
	// Flavors per resource. Resources without flavor are not charged.
	Flavors map[corev1.ResourceName]string
	// Usage is the charge of all Count pods for the resources that have a flavor.
	Usage charge.Amounts
}

// Target is a workload to be preempted.
type Target struct {
	Charge *charge.Charge
	// ClusterQueue it holds quota in.
	ClusterQueue string
	// Reason is that of the Preempted condition, such as InClusterQueue.
	Reason string
}

// Mode is how well a flavor, or a whole assignment, serves.
type Mode int

const (
	// NoFit: it can't be used as things stand.
	NoFit Mode = iota
	// NeedsPreemption: it could, if others gave way.
	NeedsPreemption
	// DeferredFit: it fits once preemptions of others, already under way, are done.
	DeferredFit
	// Fit: there is room.
	Fit
)

// String names the mode as Kueue's events do.
func (m Mode) String() string {
	return [...]string{"NoFit", "Preempt", "DeferredFit", "Fit"}[m]
}

// Attempt is one flavor tried for one pod set.
type Attempt struct {
	PodSet, Flavor string
	Mode           Mode
	// NoCandidates: preemption would be allowed, but there is nobody to preempt.
	NoCandidates bool
	// Borrow is the height of the cohort subtree the quota comes from; 0 is the queue's own.
	Borrow int
	// Reasons in Kueue's words, sorted.
	Reasons []string
	// Lines compare the request with the quota of the flavor, resource by resource.
	Lines []Line
	// Chosen: the pod set gets this flavor (or would, after preemption).
	Chosen bool

	reason string // granular reason of NoFit
	group  int
}

// Line is one resource of an attempt.
type Line struct {
	quota.FlavorResource
	// Requested by the pod set; Before by pod sets of the same workload placed in this flavor before it.
	Requested, Before quota.Amount
	// Available now, borrowing included, and Maximum were nothing used.
	Available, Maximum quota.Amount
	// Short is what Available, or where that can't ever suffice Maximum, lacks.
	Short quota.Amount
	Mode  Mode
	// Over: the request exceeds Maximum.
	Over bool
}
