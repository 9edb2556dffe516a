package lint

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Severity says how bad a finding is.
type Severity string

const (
	// Error: Kueue or the API server refuses, or the object can never do what it is for.
	Error Severity = "error"
	// Warning: it works otherwise than it reads, or will stop to.
	Warning Severity = "warning"
	// Info: worth knowing.
	Info Severity = "info"
	// Off, as the severity of a rule in [Options], means that it is not applied.
	Off Severity = "off"
)

// severities in ascending order.
var severities = []Severity{Info, Warning, Error}

// AtLeast tells whether s is as bad as t or worse.
func (s Severity) AtLeast(t Severity) bool {
	return slices.Index(severities, s) >= slices.Index(severities, t)
}

// Rule is one check.
type Rule struct {
	// ID is GQ and three digits; the first tells the group. It never changes its meaning. Rules of packs have other
	// letters.
	ID string
	// Pack is the file of the rule pack that it stands in; empty for the program's own.
	Pack string
	// Name is the ID in words, in kebab case.
	Name string
	// Severity of findings that do not name their own.
	Severity Severity
	Doc      Doc
	// Needs are the kinds without which the rule can't answer. Where one is missing and the rule has something to
	// check, it reports itself as not evaluated ([Pass.Need]).
	Needs []schema.GroupKind
	// Concurrent tells that the check asks neither for the inventory nor for decisions, but those of
	// [Facts.IfComplete], which no other rule may ask for. It runs beside the other rules.
	Concurrent bool
	// Check reports findings to the pass.
	Check func(*Pass)
}

// Doc documents a rule. The pages of docs/rules, `rules explain` and the help in SARIF are made of it.
type Doc struct {
	// Title is the rule in one line, without full stop.
	Title string
	// Why says why it matters for quota, in one paragraph.
	Why string
	// Bad and Good are examples: YAML, or a part of it.
	Bad, Good string
	// Since says which versions it holds for.
	Since string
	// Links lead to the upstream documentation.
	Links []string
}

// Group is a group of rules, named by the digit after GQ.
type Group struct {
	Digit byte
	Title string
}

// Groups of rules, in their order.
var Groups = []Group{
	{'0', "Linting itself"},
	{'1', "Kueue's configuration"},
	{'2', "Devices and selectors"},
	{'3', "Workloads and claims"},
	{'4', "Queues and quota"},
	{'5', "API shape"},
}

// Find returns the rule with an ID or name, or nil.
func Find(rules []*Rule, name string) *Rule {
	for _, r := range rules {
		if r.ID == name || r.Name == name {
			return r
		}
	}
	return nil
}

// SortRules orders rules by ID.
func SortRules(rules []*Rule) {
	slices.SortFunc(rules, func(a, b *Rule) int { return cmp.Compare(a.ID, b.ID) })
}
