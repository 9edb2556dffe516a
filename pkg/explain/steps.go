package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

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
	out = append(out, admitted(x))
	if p := x.Position; p != nil {
		out = append(out, placed(p))
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
	case lq == nil && e.snap.Coverage.HasIn(cluster.LocalQueue, w.Namespace):
		s.Result, s.Detail = Fail, fmt.Sprintf("namespace %s has no LocalQueue %s", w.Namespace, w.Queue)
		return s
	case lq == nil:
		s.Result, s.Detail = Unclear, "LocalQueue: "+e.snap.Coverage.WhyMissing(cluster.LocalQueue)
		return s
	}
	s.Evidence = []charge.Evidence{{Object: o, Ref: o.Ref, Path: "spec.clusterQueue",
		Value: string(lq.Spec.ClusterQueue)}}
	s.Detail = fmt.Sprintf("LocalQueue %s leads to ClusterQueue %s", w.Queue, lq.Spec.ClusterQueue)
	return inactive(s, o, e.queues.LocalQueue(w.Namespace, w.Queue))
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
	return inactive(s, o, e.queues.ClusterQueue(c.ClusterQueue))
}

// inactive fails the step of a queue that takes no workloads.
func inactive(s Step, o *cluster.Object, state *queuestate.State) Step {
	if !state.Inactive() {
		return s
	}
	s.Result = Fail
	name, p, r := o.Ref.Kind+" "+o.Ref.Name, state.Predicted, state.Reported
	switch why := state.Cause(); {
	case why.Kind == queuestate.Stopped:
		s.Detail = fmt.Sprintf("%s is stopped (spec.stopPolicy: %s)", name, why.Value)
	case why.Kind == queuestate.Reported:
		s.Detail = fmt.Sprintf("%s is not active (%s): %s", name, r.Reason, r.Message)
	case p.Message == "" || state.Has(queuestate.CohortCycle): // what Kueue would write does not tell
		s.Detail = name + " is not active: " + why.Text()
	default:
		s.Detail = fmt.Sprintf("%s is not active (%s): %s", name, p.Reason, p.Message)
	}
	return s
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

// decisionResults maps what would be decided to the result of the step.
var decisionResults = map[State]Result{
	Admitted: Pass, QuotaReserved: Pass, Preempts: Info, Pending: Fail, Inadmissible: Fail,
	Evicted: Info, Finished: Info, Deactivated: Fail, None: Info, Unknown: Unclear,
}

// admitted says what the next scheduling attempt would decide, or what was decided for a workload that holds quota.
func admitted(x *Explanation) Step {
	d := x.Predicted
	s := Step{Check: CheckAdmission, Result: decisionResults[d.State], Detail: d.Why}
	switch {
	case x.Charge.Published != nil && d.PodSets != nil:
		s.Detail = "it holds quota: " + flavorsOf(d.PodSets)
	case d.State == Admitted:
		s.Detail = "it fits: " + flavorsOf(d.PodSets)
	case d.State == QuotaReserved:
		s.Detail = "it fits, and waits for admission checks then: " + flavorsOf(d.PodSets)
	case d.State == Preempts:
		s.Detail = fmt.Sprintf("it fits once %d workload(s) are preempted: %s", len(d.Targets), flavorsOf(d.PodSets))
	case d.State == Unknown && len(d.Missing) > 0:
		s.Detail = "not in the input: " + strings.Join(d.Missing, ", ")
	case s.Detail == "":
		s.Detail = d.Message
	}
	return s
}

func flavorsOf(sets []admission.PodSet) string {
	var out []string
	for _, ps := range sets {
		of := map[string]bool{}
		for _, f := range ps.Flavors {
			of[f] = true
		}
		out = append(out,
			fmt.Sprintf("pod set %s × %d in %s", ps.Name, ps.Count, strings.Join(slices.Sorted(maps.Keys(of)), ", ")))
	}
	return strings.Join(out, "; ")
}

// placed tells the place in the queue, and whether it matters.
func placed(p *admission.Position) Step {
	s := Step{Check: "position", Result: Info, Detail: fmt.Sprintf("%d of those that wait in the ClusterQueue, %d in "+
		"its LocalQueue", p.ClusterQueue, p.LocalQueue)}
	if p.Strict && p.ClusterQueue > 1 {
		s.Detail += "; the queue is StrictFIFO: it waits for those before it, whatever is free"
	}
	if !p.Certain {
		s.Result, s.Detail = Unclear, s.Detail+"; "+p.Why
	}
	return s
}

func reportedStep(r Reported, c *charge.Charge) Step {
	s := Step{Check: "reported", Result: Info, Detail: "the input holds no Workload object: Kueue's own answer is " +
		"not known"}
	if r.State == None {
		return s
	}
	s.Detail = string(r.State)
	if len(r.Meaning) > 0 {
		s.Detail += ": " + strings.Join(r.Meaning, "; ")
	}
	if r.Condition != "" && c.Workload.Record != nil {
		s.Evidence = []charge.Evidence{{Object: c.Workload.Record, Ref: c.Workload.Record.Ref,
			Path: "status.conditions", Value: r.Condition + "=" + r.Status}}
	}
	return s
}
