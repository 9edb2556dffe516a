package lint

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Pass is one rule at work on one input.
type Pass struct {
	*Facts
	rule    *Rule
	out     []Diagnostic
	failed  []failure
	missing []string
	// refused are the causes of refusals reported so far.
	refused map[string]bool
}

// Diagnostic is what a rule reports.
type Diagnostic struct {
	// At is the field that is wrong.
	At Place
	// Severity is the rule's when it is empty.
	Severity Severity
	// Message is lower-case, without full stop.
	Message string
	// Help says what to do.
	Help string
	// Cause is the field it follows from, when that is another one.
	Cause Place
	// Related are the other facts it rests on.
	Related []Place
	Fix     *Fix
}

// Report records a finding. One without a message is none.
func (p *Pass) Report(d Diagnostic) {
	if d.Message != "" {
		p.out = append(p.out, d)
	}
}

// failure is what [Pass.Fail] was told.
type failure struct {
	at  Place
	why string
}

// Fail reports that the rule could not be applied to a part of the input, and why: a finding of [RuleFailed].
func (p *Pass) Fail(at Place, why string) { p.failed = append(p.failed, failure{at, why}) }

// Need tells whether the absence of objects of these kinds from the input means that there are none. Where it does not,
// the rule is reported as not evaluated. Ask only when there is something to check.
func (p *Pass) Need(kinds ...schema.GroupKind) bool { return p.need(p.Snapshot.Coverage.Has, kinds) }

// NeedIn is Need for objects of one namespace: those of another may be missing.
func (p *Pass) NeedIn(namespace string, kinds ...schema.GroupKind) bool {
	return p.need(func(gk schema.GroupKind) bool { return p.Snapshot.Coverage.HasIn(gk, namespace) }, kinds)
}

func (p *Pass) need(holds func(schema.GroupKind) bool, kinds []schema.GroupKind) bool {
	held := true
	for _, gk := range kinds {
		if !slices.Contains(p.rule.Needs, gk) {
			panic(fmt.Sprintf("rule %s does not declare that it needs %s", p.rule.ID, gk.Kind))
		}
		has := holds(gk)
		if gk == cluster.KueueConfiguration {
			has = p.Config.Found
		}
		if !has {
			p.Lacks(gk.Kind)
			held = false
		}
	}
	return held
}

// Lacks reports the rule as not evaluated for want of objects of some kinds.
func (p *Pass) Lacks(kinds ...string) {
	for _, k := range kinds {
		if !slices.Contains(p.missing, k) {
			p.missing = append(p.missing, k)
		}
	}
}

// Refusal is a reason for which Kueue refuses a workload, found by package charge.
type Refusal struct {
	Charge  *charge.Charge
	Problem *charge.Problem
	// At is the field of the job that leads to it, Cause the field that is to be changed; Related are the others.
	At, Cause Place
	Related   []Place
}

// Said is what Kueue writes into the Workload's condition, or one of the texts it may write.
func (r Refusal) Said() string {
	if r.Problem.KueueMessage == "" && len(r.Problem.Possible) > 0 {
		return r.Problem.Possible[0]
	}
	return r.Problem.KueueMessage
}

// Refusals are the certain refusals of waiting workloads that carry one of the codes. What Kueue has admitted already
// is left out: it runs.
func (p *Pass) Refusals(codes ...string) []Refusal {
	return p.problems(func(c *charge.Charge) bool { return c.Verdict == charge.Inadmissible }, codes)
}

// Chances are what the refusal of waiting workloads may come to by chance: the order in which Kueue meets devices,
// which is arbitrary. What else is known of the workload does not matter.
func (p *Pass) Chances() []Refusal {
	return p.problems(func(c *charge.Charge) bool { return Waits(c.Workload) }, []string{charge.CodeOrderDependent})
}

func (p *Pass) problems(of func(*charge.Charge) bool, codes []string) []Refusal {
	var out []Refusal
	for _, c := range p.Charges() {
		if !of(c) || reserved(c.Workload) {
			continue
		}
		for i := range c.Problems {
			if problem := &c.Problems[i]; slices.Contains(codes, problem.Code) {
				out = append(out, p.refusal(c, problem))
			}
		}
	}
	return out
}

// refusal sorts the evidence: the first fact is the job's, the last one in another object the cause.
func (p *Pass) refusal(c *charge.Charge, problem *charge.Problem) Refusal {
	r := Refusal{Charge: c, Problem: problem, At: Subject(c.Workload)}
	job := r.At.Ref
	atJob := false
	for _, e := range problem.Evidence {
		place := p.place(e)
		switch {
		case place.IsZero():
		case place.Ref == job && !atJob:
			r.At, atJob = place, true
		default:
			r.Related = append(r.Related, place)
		}
	}
	r.Cause = r.At
	for _, place := range r.Related {
		if place.Ref != c.Workload.Ref() { // what Kueue made of the job is no cause
			r.Cause = place
			break
		}
	}
	if !atJob && problem.Code == charge.CodeQueueBlocked {
		r.At = QueueName(c.Workload)
	}
	return r
}

// ReportRefusal reports a refusal on the job. The message is the rule's own where it has one.
func (p *Pass) ReportRefusal(r Refusal, message, help string) {
	p.ReportRefusalAs(Error, r, message, help)
}

// ReportRefusalAs does the same with another severity.
func (p *Pass) ReportRefusalAs(severity Severity, r Refusal, message, help string) {
	if message == "" {
		message = r.Problem.Message
	}
	if p.refused == nil {
		p.refused = map[string]bool{}
	}
	p.refused[r.Cause.key()] = true
	p.Report(Diagnostic{At: r.At, Severity: severity, Message: message, Help: help, Cause: r.Cause, Related: r.Related})
}

// Refused tells whether a refusal that follows from the place was reported.
func (p *Pass) Refused(at Place) bool { return p.refused[at.key()] }
