package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// QueueVerdict says whether a queue takes workloads.
type QueueVerdict string

const (
	QueueActive   QueueVerdict = "Active"
	QueueInactive QueueVerdict = "Inactive"
	QueueUnknown  QueueVerdict = "Unknown"
)

// Queue says how a ClusterQueue or a LocalQueue stands.
type Queue struct {
	// Ref is the queue asked for; ClusterQueue is its own name, or where a LocalQueue leads.
	Ref          cluster.Ref
	ClusterQueue string
	Verdict      QueueVerdict
	// Why says in a sentence why the queue is not active, or why that is not known.
	Why string
	// Predicted is the condition Active as it would be written for the objects in the input, and Reported the one they
	// hold; nil when they hold none.
	Predicted queuestate.Condition
	Reported  *metav1.Condition
	// Agrees tells whether the two are the same; nil when one of them is not known.
	Agrees *bool
	// StopPolicy of the queue itself, and of the ClusterQueue a LocalQueue leads to.
	StopPolicy, ClusterQueueStopPolicy kueue.StopPolicy
	// Tree is the ClusterQueue with its quota and usage; nil when it is not in the input. Usage says what it was added
	// up from.
	Tree  *admission.TreeNode
	Trees *admission.Trees
	// Local is what the workloads of a LocalQueue hold; nil for a ClusterQueue.
	Local *LocalUsage
	// Known tells that the input holds the Workloads, so that it is known who waits. ReportedPending is what the status
	// of the queue counts; it means nothing unless there is a report.
	Known           bool
	ReportedPending int
	// Pending are the first of those that stand in the queue, in its order; PendingTotal counts all. Unless that is
	// Known, they may as well hold their quota.
	Pending      []Waiting
	PendingTotal int
	// Outside are the first of those that wait without standing in the queue; OutsideTotal counts all.
	Outside      []Waiting
	OutsideTotal int
	// Leaving lose the quota they hold because a queue is stopped.
	Leaving []*charge.Charge
	// Head explains the first workload of the queue; nil when none stands in it.
	Head *Explanation
	// Opening are changes after which an inactive queue is active, each tried: package remedy fills them in.
	Opening []Remedy
	// Inconsistencies are sentences about objects that contradict each other.
	Inconsistencies []string
}

// LocalUsage is what the workloads of a LocalQueue hold.
type LocalUsage struct {
	Usage               quota.Usage
	Reserving, Admitted int
}

// Waiting is one workload that waits in a queue.
type Waiting struct {
	Charge *charge.Charge
	// Position is nil for one that does not stand in the queue.
	Position *admission.Position
	Decision *admission.Decision
	// Short is what is too small for it, in the flavor that comes closest.
	Short []Constraint
	// Since is when it was queued first; zero when the input does not tell.
	Since time.Time
}

// Queue explains a ClusterQueue or a LocalQueue of the snapshot. Most bounds the lists of workloads; 0 lists all. Trees
// are those of the engine.
func (e *Explainer) Queue(o *cluster.Object, trees *admission.Trees, most int) *Queue {
	q := &Queue{Ref: o.Ref, Trees: trees, Known: e.snap.Coverage.Has(cluster.Workload)}
	own := func(c *charge.Charge) bool { return c.ClusterQueue == o.Ref.Name }
	var state *queuestate.State
	if lq := cluster.As[*kueue.LocalQueue](o); lq != nil {
		q.ClusterQueue, q.StopPolicy = string(lq.Spec.ClusterQueue), ptr.Deref(lq.Spec.StopPolicy, kueue.None)
		state, q.ReportedPending = e.queues.LocalQueue(lq.Namespace, lq.Name), int(lq.Status.PendingWorkloads)
		own = func(c *charge.Charge) bool {
			return c.Workload.Namespace == o.Ref.Namespace && c.Workload.Queue == o.Ref.Name
		}
		q.Local = &LocalUsage{}
		q.Local.Usage, q.Local.Reserving, q.Local.Admitted = e.engine.LocalUsage(o.Ref.Namespace, o.Ref.Name)
		q.Known = e.snap.Coverage.HasIn(cluster.Workload, o.Ref.Namespace)
	} else if cq := cluster.As[*kueue.ClusterQueue](o); cq != nil {
		q.ClusterQueue, q.StopPolicy = cq.Name, ptr.Deref(cq.Spec.StopPolicy, kueue.None)
		state, q.ReportedPending = e.queues.ClusterQueue(cq.Name), int(cq.Status.PendingWorkloads)
	}
	q.Predicted, q.Reported = state.Predicted, state.Reported
	if cq := e.queue(q.ClusterQueue); cq != nil {
		q.ClusterQueueStopPolicy = ptr.Deref(cq.Spec.StopPolicy, kueue.None)
		q.Tree = nodeOf(trees.Roots, q.ClusterQueue)
	}
	e.judge(q, state)
	e.line(q, own, most)
	if q.Known {
		q.Inconsistencies = append(q.Inconsistencies, e.engine.Unaccounted(q.ClusterQueue)...)
	}
	return q
}

func nodeOf(nodes []*admission.TreeNode, queue string) *admission.TreeNode {
	for _, n := range nodes {
		if n.Queue && n.Name == queue {
			return n
		}
		if found := nodeOf(n.Children, queue); found != nil {
			return found
		}
	}
	return nil
}

// judge says whether the queue is active, and compares what Kueue reported with what it would write now.
func (e *Explainer) judge(q *Queue, s *queuestate.State) {
	p, r := q.Predicted, q.Reported
	if r != nil && p.Status != metav1.ConditionUnknown && (p.Message != "" || r.Status != p.Status) {
		agrees := r.Status == p.Status && (p.Message == "" || r.Reason == p.Reason && r.Message == p.Message)
		q.Agrees = &agrees
		if !agrees {
			q.Inconsistencies = append(q.Inconsistencies, "Kueue's condition is not what it would write for these "+
				"objects: it is old, or rests on objects that are not in the input")
		}
	}
	switch s.Verdict {
	case metav1.ConditionTrue:
		q.Verdict = QueueActive
	case metav1.ConditionFalse:
		q.Verdict, q.Why = QueueInactive, whyInactive(s)
	default:
		q.Verdict, q.Why = QueueUnknown, fmt.Sprintf("not in the input: %s", strings.Join(p.Missing, ", "))
	}
}

// whyInactive says why a queue is inactive: in Kueue's words, and of a LocalQueue what of its ClusterQueue is the
// cause.
func whyInactive(s *queuestate.State) string {
	switch c := s.Cause(); {
	case c.Kind == queuestate.ClusterQueueInactive && s.Of.Has(queuestate.CohortCycle):
		return s.Of.Cause().Text()
	case c.Kind == queuestate.ClusterQueueInactive:
		return s.Predicted.Message + " (ClusterQueue " + c.Names[0] + ": " + whyInactive(s.Of) + ")"
	case c.Kind == queuestate.ClusterQueueNotFound:
		return s.Predicted.Message + " (" + c.Text() + ")"
	case s.Has(queuestate.CohortCycle):
		return c.Text()
	case s.Predicted.Message != "" && s.Predicted.Status == metav1.ConditionFalse:
		return s.Predicted.Message
	case s.Has(queuestate.Reported):
		return s.Reported.Message
	default:
		return c.Text()
	}
}

// line fills in who waits, and explains the first.
func (e *Explainer) line(q *Queue, own func(*charge.Charge) bool, most int) {
	if most <= 0 {
		most = math.MaxInt
	}
	for _, c := range e.engine.Waiting(q.ClusterQueue) {
		if !own(c) {
			continue
		}
		if q.PendingTotal++; q.PendingTotal == 1 && q.Known {
			q.Head = e.Explain(c)
		}
		if len(q.Pending) < most {
			q.Pending = append(q.Pending, e.waiting(c))
		}
	}
	for _, c := range e.engine.Outside(own) {
		if q.OutsideTotal++; len(q.Outside) < most {
			q.Outside = append(q.Outside, e.waiting(c))
		}
	}
	q.Leaving = slices.DeleteFunc(e.engine.Leaving(q.ClusterQueue), func(c *charge.Charge) bool { return !own(c) })
}

func (e *Explainer) waiting(c *charge.Charge) Waiting {
	w := Waiting{Charge: c, Position: e.engine.Position(c), Decision: e.engine.Decide(c)}
	if o := c.Workload.Record; o != nil {
		w.Since = o.Meta.CreationTimestamp.Time
	}
	x := &Explanation{Charge: c, Predicted: w.Decision}
	w.Short = Closest(e.common(c).binding.or(func() []Constraint { return e.binding(x) }))
	return w
}
