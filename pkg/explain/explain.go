package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/fit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// State is where a workload stands.
type State = admission.State

const (
	Admitted      = admission.Admitted
	QuotaReserved = admission.QuotaReserved
	Preempts      = admission.Preempts
	Pending       = admission.Pending
	Inadmissible  = admission.Inadmissible
	Evicted       = admission.Evicted
	Finished      = admission.Finished
	Deactivated   = admission.Deactivated
	None          = admission.None
	Unknown       = admission.Unknown
)

// Explanation says where one workload stands and why.
type Explanation struct {
	Charge   *charge.Charge
	Reported Reported
	// Predicted is what the next scheduling attempt would decide.
	Predicted *admission.Decision
	// Agrees tells whether what Kueue reported is what is predicted, or was true before later reservations; nil when
	// one of the two is missing.
	Agrees *bool
	// Position in the queue; nil for a workload that does not wait.
	Position *admission.Position
	Steps    []Step
	Quota    []QuotaLine
	// Binding is the quota that is too small, for each flavor tried.
	Binding []Constraint
	// Holders have the quota that is short, the largest first.
	Holders []admission.Holder
	// PreemptedBy tells who took its quota, if anybody did.
	PreemptedBy []Preemption
	// Remedies are changes after which it would be admitted, each tried: package remedy fills them in.
	Remedies []Remedy
	// Untried tells that there were more changes to try, and too many workloads to try them for.
	Untried bool
	// Fit tells whether its pods can get their devices now; nil where that was not asked.
	Fit *fit.Result
	// Cohort of the ClusterQueue; empty without one or when the queue is not in the input.
	Cohort string
	// Inconsistencies are sentences about objects that contradict each other.
	Inconsistencies []string

	common *common
}

// Constraint is a quota that is too small for a pod set in one flavor.
type Constraint struct {
	PodSet string
	admission.Line
	// Used by the queue, and its own Nominal quota.
	Used, Nominal quota.Amount
	// Chosen tells the flavor that would be taken once there is room.
	Chosen bool
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
	// CheckAdmission is the step that tells what the next scheduling attempt would decide.
	CheckAdmission = "admission"
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
	// Used is what is reserved in this flavor of the queue, the workload's own reservation included: by the Workloads
	// in the input, else as the queue reports it. It is meaningless unless UsedKnown.
	Used      int64
	UsedKnown bool
	// Free is what is left of Nominal, never below zero.
	Free int64
	// Available is what the queue could take now, borrowing included, and Maximum the most it could ever take. Both are
	// meaningless unless Live: the Workloads that hold quota are in the input.
	Available, Maximum quota.Amount
	Live               bool
	// Short is what is lacking for the request: of what is available, or where that is not known of the nominal quota;
	// 0 when it suffices or the workload already holds it.
	Short int64
	// BorrowingLimit and LendingLimit are nil when not set.
	BorrowingLimit, LendingLimit *int64
	// Holds tells that Requested is already reserved in this flavor.
	Holds bool
}

// Explainer explains the workloads of one snapshot.
type Explainer struct {
	snap   *cluster.Snapshot
	conf   *config.Config
	engine *admission.Engine
	queues *queuestate.Queues
	// commons is what workloads that are alike share.
	commons map[admission.Likeness]*common
}

// New returns an Explainer. The engine must know the charges to be explained. The arguments are only read.
func New(snap *cluster.Snapshot, conf *config.Config, engine *admission.Engine) *Explainer {
	return &Explainer{
		snap: snap, conf: conf, engine: engine, queues: queuestate.New(snap,
			conf), commons: map[admission.Likeness]*common{},
	}
}

// Snapshot is the snapshot explained.
func (e *Explainer) Snapshot() *cluster.Snapshot { return e.snap }

// Config is the configuration of Kueue.
func (e *Explainer) Config() *config.Config { return e.conf }

// Queues says of the queues of the snapshot whether they take workloads.
func (e *Explainer) Queues() *queuestate.Queues { return e.queues }

// Engine decides about the workloads.
func (e *Explainer) Engine() *admission.Engine { return e.engine }

// Binding is the quota that is too small for a charge by a decision about it.
func (e *Explainer) Binding(c *charge.Charge, d *admission.Decision) []Constraint {
	return e.binding(&Explanation{Charge: c, Predicted: d})
}

// Explain explains one workload, without remedies. It never fails: what is not known is said to be unknown.
func (e *Explainer) Explain(c *charge.Charge) *Explanation {
	k := e.common(c)
	x := &Explanation{common: k, Charge: c, Reported: report(c), Predicted: e.engine.Decide(c),
		Position: e.engine.Position(c)}
	queue := e.queue(c.ClusterQueue)
	if queue != nil {
		x.Cohort = string(queue.Spec.CohortName)
	}
	x.Quota = e.compare(c, queue)
	x.Binding = k.binding.or(func() []Constraint { return e.binding(x) })
	x.Holders = k.holders.or(func() []admission.Holder { return e.holders(x) })
	x.PreemptedBy = e.preemptedBy(c)
	x.Inconsistencies = append(inconsistencies(x), e.engine.Unaccounted(c.ClusterQueue)...)
	e.agreement(x)
	x.Steps = e.steps(x, queue)
	return x
}
