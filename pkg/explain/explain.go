package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueueconf"
)

// State is where a workload stands.
type State string

const (
	Admitted      State = "Admitted"
	QuotaReserved State = "QuotaReserved"
	Pending       State = "Pending"
	Inadmissible  State = "Inadmissible"
	Evicted       State = "Evicted"
	Finished      State = "Finished"
	Deactivated   State = "Deactivated"
	// None: the input holds no Workload object.
	None State = "None"
	// Unknown is only ever predicted.
	Unknown State = "Unknown"
)

// Explanation says where one workload stands and why.
type Explanation struct {
	Charge    *charge.Charge
	Reported  Reported
	Predicted Predicted
	Steps     []Step
	Quota     []QuotaLine
	// Binding are the lines of Quota that no borrowing can help: the queue is in no cohort, and the
	// resource has no other flavor.
	Binding []QuotaLine
	// Cohort of the ClusterQueue; empty without one or when the queue is not in the input.
	Cohort string
	// Inconsistencies are sentences about objects that contradict each other.
	Inconsistencies []string
}

// Reported is what the Workload's conditions say.
type Reported struct {
	State State
	// Condition is the type of the condition that tells the state, and Status its status.
	Condition, Status string
	Reason, Message   string
	// Since is the condition's last transition; zero when no condition tells.
	Since time.Time
	// Stale tells that the object's generation is newer than the one the condition was written for.
	Stale bool
	// Meaning puts the condition into plain words.
	Meaning []string
}

// Predicted is what the next scheduling attempt would decide.
type Predicted struct {
	State  State
	Reason string
}

// Result of a step.
type Result string

const (
	Pass    Result = "pass"
	Fail    Result = "fail"
	Unclear Result = "unknown"
	Info    Result = "info"
)

// Steps that others refer to.
const (
	// CheckCharge is the step that tells whether the charge is known.
	CheckCharge = "charge"
	// CheckQuota is the step that compares the request with the queue's own nominal quota.
	CheckQuota = "nominalQuota"
)

// Step is one check on the way to admission.
type Step struct {
	Check    string
	Result   Result
	Detail   string
	Evidence []charge.Evidence
}

// QuotaLine compares the request for one resource with one flavor of the queue. Amounts are in units
// of the resource (milli for cpu).
type QuotaLine struct {
	Resource corev1.ResourceName
	// Flavor is empty when the queue does not cover the resource.
	Flavor    string
	Requested int64
	Nominal   int64
	// Used is what the queue reports as reserved in this flavor, the workload's own reservation
	// included. It is meaningless unless UsedKnown.
	Used      int64
	UsedKnown bool
	// Free is what is left of Nominal, never below zero.
	Free int64
	// Short is what the queue's own quota lacks for the request; 0 when it suffices or the workload
	// already holds it.
	Short int64
	// BorrowingLimit and LendingLimit are nil when not set.
	BorrowingLimit, LendingLimit *int64
	// Holds tells that Requested is already reserved in this flavor.
	Holds bool
}

// Explainer explains the workloads of one snapshot.
type Explainer struct {
	snap *cluster.Snapshot
	conf *kueueconf.Config
}

// New returns an Explainer. Both arguments are only read.
func New(snap *cluster.Snapshot, conf *kueueconf.Config) *Explainer {
	return &Explainer{snap: snap, conf: conf}
}

// Explain explains one workload. It never fails: what is not known is said to be unknown.
func (e *Explainer) Explain(c *charge.Charge) *Explanation {
	x := &Explanation{Charge: c, Reported: report(c)}
	x.Predicted = Predicted{State: Unknown, Reason: "this release compares the charge with the queue's own quota; it does not run the scheduler's decision"}
	queue := e.queue(c.ClusterQueue)
	if queue != nil {
		x.Cohort = string(queue.Spec.CohortName)
	}
	x.Quota = compare(c, queue)
	x.Steps = e.steps(x, queue)
	x.Binding = binding(x, queue)
	x.Inconsistencies = inconsistencies(x)
	return x
}
