package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

type workloadPodSet = workload.PodSet

// steps walks the way to admission in Kueue's order. It goes on after a failed step: each is a fact of its own.
func (e *Explainer) steps(x *Explanation, queue *kueue.ClusterQueue) []Step {
	c := x.Charge
	if c.Workload == nil {
		return nil
	}
	out := []Step{managed(c.Workload)}
	if s := c.Workload.State; s == workload.Unmanaged || s == workload.Elsewhere {
		return out
	}
	out = append(out, e.localQueue(c.Workload), e.clusterQueue(c, queue), charged(c))
	if queue != nil && len(x.Quota) > 0 && c.Verdict == charge.Charged {
		out = append(out, e.quota(x, queue))
	}
	return append(out, reportedStep(x.Reported, c))
}

// managedResults maps how Kueue treats a job to the result of the first step.
var managedResults = map[workload.State]struct {
	result Result
	detail string
}{
	workload.Managed:      {Pass, "Kueue manages it"},
	workload.Unmanaged:    {Info, "Kueue does not manage it: it runs outside of quota"},
	workload.Stuck:        {Fail, "it is held back, but Kueue never makes a Workload for it: it waits for ever"},
	workload.Incomplete:   {Fail, "Kueue waits for more before it makes a Workload"},
	workload.Elsewhere:    {Info, "its pods are charged through the Workload of another object"},
	workload.Rejected:     {Fail, "a webhook of Kueue refuses the object at its creation"},
	workload.Undetermined: {Unclear, "the input does not tell whether Kueue manages it"},
}

func managed(w *workload.Workload) Step {
	known, ok := managedResults[w.State]
	if !ok {
		known = managedResults[workload.Undetermined]
	}
	s := Step{Check: "managed", Result: known.result, Detail: known.detail}
	var texts []string
	for _, r := range w.Reasons {
		texts = append(texts, r.Text)
		if !r.Object.IsZero() {
			s.Evidence = append(s.Evidence, charge.Evidence{Ref: r.Object, Path: r.Path})
		}
	}
	if len(texts) > 0 {
		s.Detail += ": " + strings.Join(texts, "; ")
	}
	return s
}

func (e *Explainer) localQueue(w *workload.Workload) Step {
	s := Step{Check: "localQueue", Result: Pass}
	if w.Queue == "" {
		s.Result, s.Detail = Fail, "it names no LocalQueue"
		return s
	}
	o := e.snap.Get(cluster.LocalQueue, w.Namespace, w.Queue)
	lq := cluster.As[*kueue.LocalQueue](o)
	switch {
	case lq == nil && e.snap.Coverage.Has(cluster.LocalQueue):
		s.Result, s.Detail = Fail, fmt.Sprintf("namespace %s has no LocalQueue %s", w.Namespace, w.Queue)
		return s
	case lq == nil:
		s.Result, s.Detail = Unclear, "LocalQueue: "+e.snap.Coverage.WhyMissing(cluster.LocalQueue)
		return s
	}
	s.Evidence = []charge.Evidence{{Object: o, Ref: o.Ref, Path: "spec.clusterQueue", Value: string(lq.Spec.ClusterQueue)}}
	s.Detail = fmt.Sprintf("LocalQueue %s leads to ClusterQueue %s", w.Queue, lq.Spec.ClusterQueue)
	s.Result, s.Detail = stopped(s, o, lq.Spec.StopPolicy, meta.FindStatusCondition(lq.Status.Conditions, kueue.LocalQueueActive))
	return s
}

func (e *Explainer) clusterQueue(c *charge.Charge, queue *kueue.ClusterQueue) Step {
	s := Step{Check: "clusterQueue", Result: Pass}
	switch {
	case c.ClusterQueue == "":
		s.Result, s.Detail = Unclear, "the ClusterQueue is not known"
		return s
	case queue == nil && e.snap.Coverage.Has(cluster.ClusterQueue):
		s.Result, s.Detail = Fail, "there is no ClusterQueue "+c.ClusterQueue
		return s
	case queue == nil:
		s.Result, s.Detail = Unclear, "ClusterQueue: "+e.snap.Coverage.WhyMissing(cluster.ClusterQueue)
		return s
	}
	o := e.snap.Get(cluster.ClusterQueue, "", c.ClusterQueue)
	s.Evidence = []charge.Evidence{{Object: o, Ref: o.Ref, Path: "spec.resourceGroups"}}
	s.Detail = "ClusterQueue " + c.ClusterQueue + " exists"
	s.Result, s.Detail = stopped(s, o, queue.Spec.StopPolicy, meta.FindStatusCondition(queue.Status.Conditions, kueue.ClusterQueueActive))
	return s
}

// stopped fails a step when the queue is stopped or says that it is not active.
func stopped(s Step, o *cluster.Object, policy *kueue.StopPolicy, active *metav1.Condition) (Result, string) {
	switch {
	case policy != nil && *policy != kueue.None:
		return Fail, fmt.Sprintf("%s %s is stopped (spec.stopPolicy: %s)", o.Ref.Kind, o.Ref.Name, *policy)
	case active != nil && active.Status == metav1.ConditionFalse:
		return Fail, fmt.Sprintf("%s %s is not active (%s): %s", o.Ref.Kind, o.Ref.Name, active.Reason, active.Message)
	}
	return s.Result, s.Detail
}

// chargeResults maps the verdict to the result of the charge step.
var chargeResults = map[charge.Verdict]Result{
	charge.Charged: Pass, charge.Inadmissible: Fail, charge.Unmanaged: Info, charge.Unknown: Unclear,
}

func charged(c *charge.Charge) Step {
	s := Step{Check: CheckCharge, Result: chargeResults[c.Verdict], Detail: "the charge is known"}
	if s.Result == "" {
		s.Result = Unclear
	}
	var texts []string
	for _, p := range c.Problems {
		texts = append(texts, p.Message)
		s.Evidence = append(s.Evidence, p.Evidence...)
	}
	if len(c.Missing) > 0 {
		texts = append(texts, "not in the input: "+strings.Join(c.Missing, ", "))
	}
	if len(texts) > 0 {
		s.Detail = strings.Join(texts, "; ")
	}
	return s
}

// quota says what the queue's own nominal quota allows, and no more than that.
func (e *Explainer) quota(x *Explanation, queue *kueue.ClusterQueue) Step {
	s := Step{Check: CheckQuota, Result: Pass}
	if holds := slices.ContainsFunc(x.Quota, func(l QuotaLine) bool { return l.Holds }); holds {
		s.Result, s.Detail = Info, "it holds quota"
		return s
	}
	if name, uncovered := e.uncovered(x); uncovered {
		s.Result, s.Detail = Fail, fmt.Sprintf("no resource group of ClusterQueue %s covers %s", queue.Name, name)
		return s
	}
	short, unknown, several := shortages(x)
	switch {
	case len(short) == 0 && unknown:
		s.Result, s.Detail = Unclear, "the request is within the nominal quota; what is used of it is not in the input"
	case len(short) == 0 && several:
		s.Result, s.Detail = Unclear, "each resource fits a flavor's free nominal quota; whether one flavor serves a whole pod set is not evaluated"
	case len(short) == 0 && queue.Spec.CohortName != "":
		s.Result = Unclear
		s.Detail = fmt.Sprintf("the request is within the queue's own free nominal quota; whether other queues of cohort %s have borrowed it is not evaluated", queue.Spec.CohortName)
	case len(short) == 0:
		s.Detail = "the request fits the free nominal quota; taints, labels, topology and the order of the queue are not evaluated"
	case queue.Spec.CohortName != "":
		s.Result = Unclear
		s.Detail = fmt.Sprintf("the queue's own free quota is too small for %s; borrowing from cohort %s is not evaluated", strings.Join(short, ", "), queue.Spec.CohortName)
	case partial(x.Charge):
		s.Result, s.Detail = Unclear, fmt.Sprintf("the free quota is too small for %s; admission with fewer pods is not evaluated", strings.Join(short, ", "))
	default:
		s.Result, s.Detail = Fail, fmt.Sprintf("the free quota is too small for %s, and the queue is in no cohort it could borrow from", strings.Join(short, ", "))
	}
	return s
}

// shortages names the resources that no flavor of the queue has enough free quota for.
func shortages(x *Explanation) (short []string, unknown, several bool) {
	best := map[corev1.ResourceName]int64{}
	var order []corev1.ResourceName
	for _, l := range x.Quota {
		if l.Flavor == "" {
			continue
		}
		least, seen := best[l.Resource]
		if !seen {
			order = append(order, l.Resource)
		}
		several = several || seen
		if !seen || l.Short < least {
			best[l.Resource] = l.Short
		}
		unknown = unknown || !l.UsedKnown
	}
	for _, name := range order {
		if best[name] > 0 {
			short = append(short, string(name))
		}
	}
	return short, unknown, several
}

// uncovered names the first resource the queue has no quota for, unless this Kueue is told to ignore such resources.
func (e *Explainer) uncovered(x *Explanation) (corev1.ResourceName, bool) {
	if e.conf != nil && e.conf.Configuration != nil && e.conf.IgnoresUndeclared() {
		return "", false
	}
	for _, l := range x.Quota {
		if l.Flavor == "" {
			return l.Resource, true
		}
	}
	return "", false
}

func reportedStep(r Reported, c *charge.Charge) Step {
	s := Step{Check: "reported", Result: Info, Detail: "the input holds no Workload object: Kueue's own answer is not known"}
	if r.State == None {
		return s
	}
	s.Detail = string(r.State)
	if len(r.Meaning) > 0 {
		s.Detail += ": " + strings.Join(r.Meaning, "; ")
	}
	if r.Condition != "" && c.Workload.Record != nil {
		s.Evidence = []charge.Evidence{{Object: c.Workload.Record, Ref: c.Workload.Record.Ref, Path: "status.conditions", Value: r.Condition + "=" + r.Status}}
	}
	return s
}
