package lint

import (
	"fmt"
	"slices"
	"strings"
)

// Suppressed is a finding that is not reported.
type Suppressed struct {
	Finding
	// InSource tells that the input itself says so, by a comment or an annotation.
	InSource bool
	// Justification is the reason given.
	Justification string
}

// SuppressionWithoutReason and UnusedSuppression are about suppressions, and are found when all other rules have been
// applied. They have no check of their own.
var (
	SuppressionWithoutReason = &Rule{
		ID: "GQ002", Name: "suppression-without-reason", Severity: Warning,
		Doc: Doc{
			Title: "A suppression does not say which rule, or why",
			Why: "Whoever reads a suppression a year later has to know whether it still holds. One that names no " +
				"rule suppresses nothing: it would hide what nobody has seen yet.",
			Bad:   "count: 8   # gpu-quota:ignore GQ210\n",
			Good:  "count: 8   # gpu-quota:ignore GQ210 the nodes arrive in May\n",
			Since: "every version",
		},
		Check: func(*Pass) {},
	}
	UnusedSuppression = &Rule{
		ID: "GQ003", Name: "unused-suppression", Severity: Warning,
		Doc: Doc{
			Title: "A suppression suppresses nothing",
			Why: "What it was for is gone, or it stands at the wrong place and the finding is reported all the same. " +
				"It would hide the next finding of the rule here. Rules that could not be evaluated are not counted " +
				"against a suppression.",
			Bad: "# gpu-quota:ignore GQ101 mapped in the other cluster\nspec:\n  devices: {}\n",
			Good: "exactly:\n  # gpu-quota:ignore GQ101 mapped in the other cluster\n  deviceClassName: " +
				"vfio.example.com\n",
			Since: "every version",
		},
		Check: func(*Pass) {},
	}
)

// Suppress takes out the findings for which a reason is given from outside of the input: by a configuration or a
// baseline.
func (r *Result) Suppress(by func(Finding) (justification string, ok bool)) {
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		if why, ok := by(f); ok {
			r.Suppressed = append(r.Suppressed, Suppressed{Finding: f, Justification: why})
			continue
		}
		kept = append(kept, f)
	}
	r.Findings = kept
	slices.SortStableFunc(r.Suppressed, func(a, b Suppressed) int { return a.Finding.Compare(b.Finding) })
}

// suppressionUse is what became of a suppression: which of its rules found something.
type suppressionUse struct {
	*Suppression
	used map[string]bool
}

// applySuppressions takes out what the input suppresses, and reports suppressions that lack a reason or suppress
// nothing.
func (r *Result) applySuppressions(all []Suppression, opts Options) {
	if len(all) == 0 {
		return
	}
	uses := make([]*suppressionUse, len(all))
	all = slices.Clone(all)
	for i := range all {
		all[i].Rules = slices.Clone(all[i].Rules)
		all[i].resolve(opts.Rules)
		uses[i] = &suppressionUse{&all[i], map[string]bool{}}
	}
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		if s := suppressionOf(uses, &f); s != nil {
			r.Suppressed = append(r.Suppressed, Suppressed{Finding: f, InSource: true, Justification: s.Reason})
			continue
		}
		kept = append(kept, f)
	}
	r.Findings = kept
	for _, u := range uses {
		r.judge(u, opts)
	}
	r.finish()
}

// suppressionOf is the first suppression of a finding. All others that would suppress it are used as well.
func suppressionOf(uses []*suppressionUse, f *Finding) *Suppression {
	var first *Suppression
	for _, u := range uses {
		if slices.Contains(u.Rules, f.Rule.ID) && u.covers(f) {
			u.used[f.Rule.ID] = true
			if first == nil {
				first = u.Suppression
			}
		}
	}
	return first
}

// judge reports what is wrong with a suppression.
func (r *Result) judge(u *suppressionUse, opts Options) {
	report := func(rule *Rule, message, help string) {
		if !slices.Contains(opts.Rules, rule) || opts.Severities[rule.ID] == Off {
			return
		}
		r.Findings = append(r.Findings,
			Finding{Rule: rule, Severity: severityOf(rule, "", opts), Message: message, Help: help, At: u.At,
				Cause: u.At})
	}
	switch {
	case len(u.Rules) == 0:
		report(SuppressionWithoutReason, "the suppression names no rule, and suppresses nothing",
			"name the rule and say why: # "+IgnoreComment+" GQ203 the largest partition is meant")
		return
	case u.Reason == "":
		report(SuppressionWithoutReason,
			fmt.Sprintf("the suppression of %s gives no reason",
				strings.Join(u.Rules, ", ")), "say why behind the rule")
	}
	for _, id := range u.Rules {
		switch {
		case u.used[id] || r.unknown(id, opts):
		case Find(opts.Rules, id) == nil:
			report(UnusedSuppression, "there is no rule "+id, "kubectl gpu-quota rules list shows the rules; rules "+
				"of a pack need --rules")
		case u.line > 0 || u.At.origin == nil:
			report(UnusedSuppression, fmt.Sprintf("%s has no finding on the line that this suppression is about", id),
				"remove it, or put it on the line that the finding names, or directly above")
		default:
			report(UnusedSuppression, fmt.Sprintf("%s has no finding about this object", id), "remove it")
		}
	}
}

// unknown tells that it can't be said whether a rule has findings: it was not applied, or could not answer.
func (r *Result) unknown(id string, opts Options) bool {
	return opts.Severities[id] == Off ||
		slices.ContainsFunc(r.Unevaluated, func(u Unevaluated) bool { return u.Rule.ID == id }) ||
		slices.ContainsFunc(r.Findings,
			func(f Finding) bool { return f.Rule == RuleFailed && strings.HasPrefix(f.Message, "rule "+id+" ") })
}
