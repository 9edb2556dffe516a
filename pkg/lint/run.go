package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
)

// Options say which rules to apply, and how.
type Options struct {
	Rules []*Rule
	// Timeout for one rule; 0 means DefaultTimeout.
	Timeout time.Duration
	// Severities replace those of rules, by ID.
	Severities map[string]Severity
}

// DefaultTimeout is how long one rule may take.
const DefaultTimeout = 60 * time.Second

// RuleFailed reports a rule that panicked or took too long. It has no check of its own.
var RuleFailed = &Rule{
	ID: "GQ004", Name: "rule-failed", Severity: Warning,
	Doc: Doc{
		Title: "A rule could not be applied",
		Why: "A rule that stops with an error, or takes longer than it may, has found nothing, which must not be " +
			"read as \"nothing is wrong\". The other rules are not affected.",
		Since: "every version",
	},
	Check: func(*Pass) {},
}

// Run applies rules to an input. The error is that of ctx. Rules that are [Rule.Concurrent] run beside the others; what
// is found does not depend on which of them ends first.
func Run(ctx context.Context, in Input, opts Options) (*Result, error) {
	out, _, err := run(ctx, in, opts)
	return out, err
}

// RunComputed is [Run] for a caller who goes on with the same input. What it returns beside the findings was computed
// for the rules, or is computed now; no rule is at work on it any more.
func RunComputed(ctx context.Context, in Input, opts Options) (*Result, *pipeline.Layers, error) {
	out, facts, err := run(ctx, in, opts)
	if err != nil {
		return nil, nil, err
	}
	return out, facts.layers, nil
}

func run(ctx context.Context, in Input, opts Options) (*Result, *Facts, error) {
	out := &Result{Objects: in.Snapshot.Objects(), Files: in.Files}
	var rules []*Rule
	for _, r := range opts.Rules {
		if opts.Severities[r.ID] != Off {
			rules = append(rules, r)
		}
	}
	facts := newFacts(in)
	outcomes := make([]outcome, len(rules))
	var lanes sync.WaitGroup
	main, concurrent := &lane{facts: facts}, &lane{facts: facts.concurrently(), concurrent: true}
	for _, l := range []*lane{main, concurrent} {
		lanes.Go(func() { l.run(ctx, rules, opts, outcomes) })
	}
	lanes.Wait()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	for i, r := range rules {
		out.take(r, outcomes[i], opts)
	}
	out.finish()
	out.applySuppressions(in.Suppressions, opts)
	return out, main.facts, ctx.Err()
}

// lane is a sequence of rules that are applied one after another.
type lane struct {
	facts      *Facts
	concurrent bool
}

// run applies the rules of the lane, and writes down what became of each.
func (l *lane) run(ctx context.Context, rules []*Rule, opts Options, outcomes []outcome) {
	for i, r := range rules {
		if r.Concurrent != l.concurrent {
			continue
		}
		done := make(chan outcome, 1)
		go apply(l.facts, r, done)
		select {
		case outcomes[i] = <-done:
		case <-time.After(timeout(opts)):
			outcomes[i] = outcome{failure: fmt.Sprintf("it took longer than %s", timeout(opts))}
			// The rule may be at work on the facts still, so the others get new ones.
			if l.facts = newFacts(l.facts.Input); l.concurrent {
				l.facts = l.facts.concurrently()
			}
		case <-ctx.Done():
			return
		}
	}
}

func timeout(o Options) time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return DefaultTimeout
}

// outcome of one rule.
type outcome struct {
	diagnostics []Diagnostic
	missing     []string
	// failed are the parts of the input that the rule could not be applied to.
	failed []failure
	// failure says why there is no outcome.
	failure string
}

func apply(facts *Facts, r *Rule, done chan<- outcome) {
	p := &Pass{Facts: facts, rule: r}
	o := outcome{failure: "it ended early"}
	defer func() {
		if v := recover(); v != nil {
			o = outcome{failure: fmt.Sprintf("it stopped with an error: %v", v)}
		}
		done <- o
	}()
	r.Check(p)
	slices.Sort(p.missing)
	o = outcome{diagnostics: p.out, missing: p.missing, failed: p.failed}
}

func (res *Result) take(r *Rule, o outcome, opts Options) {
	if o.failure != "" {
		o = outcome{failed: []failure{{why: o.failure}}}
	}
	for _, f := range o.failed {
		at := f.at.Location()
		res.Findings = append(res.Findings,
			Finding{Rule: RuleFailed, Severity: severityOf(RuleFailed, "", opts), At: at, Cause: at,
				Message: oneLine(fmt.Sprintf("rule %s (%s) could not be applied: %s", r.ID, r.Name, f.why)),
				Help:    "this is a fault of the rule; what it looks for was not checked"})
	}
	for _, d := range o.diagnostics {
		f := Finding{Rule: r, Severity: severityOf(r, d.Severity, opts), Message: oneLine(d.Message), Help: d.Help,
			At: d.At.Location(), Fix: d.Fix}
		f.Cause = f.At
		if !d.Cause.IsZero() {
			f.Cause = d.Cause.Location()
		}
		for _, p := range d.Related {
			if l := p.Location(); !l.IsZero() && l.Compare(f.At) != 0 {
				f.Related = append(f.Related, l)
			}
		}
		res.Findings = append(res.Findings, f)
	}
	if len(o.missing) > 0 {
		res.Unevaluated = append(res.Unevaluated, Unevaluated{Rule: r, Missing: o.missing})
	}
}

func severityOf(r *Rule, own Severity, opts Options) Severity {
	if s, ok := opts.Severities[r.ID]; ok {
		return s
	}
	if own != "" {
		return own
	}
	return r.Severity
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// finish sorts the findings and takes out what is told twice.
func (res *Result) finish() {
	slices.SortStableFunc(res.Findings, Finding.Compare)
	res.Findings = slices.CompactFunc(res.Findings, func(a, b Finding) bool { return a.Compare(b) == 0 })
	slices.SortStableFunc(res.Unevaluated, func(a, b Unevaluated) int { return strings.Compare(a.Rule.ID, b.Rule.ID) })
}
