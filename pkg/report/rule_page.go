package report

import (
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// RuleMarkdown is the page of a rule: what it looks for, why, a bad and a good example.
func RuleMarkdown(r *lint.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s\n\n%s.\n\n", r.ID, r.Name, r.Doc.Title)
	fmt.Fprintf(&b, "| severity | since | needs |\n|---|---|---|\n| %s | %s | %s |\n\n", r.Severity, r.Doc.Since,
		needs(r))
	fmt.Fprintf(&b, "## Why it matters\n\n%s\n", r.Doc.Why)
	for _, example := range []struct{ title, text string }{{"Bad", r.Doc.Bad}, {"Good", r.Doc.Good}} {
		if example.text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n```yaml\n%s\n```\n", example.title, strings.TrimRight(example.text, "\n"))
		}
	}
	if len(r.Doc.Links) > 0 {
		b.WriteString("\n## See also\n\n")
		for _, l := range r.Doc.Links {
			fmt.Fprintf(&b, "- <%s>\n", l)
		}
	}
	return b.String()
}

func needs(r *lint.Rule) string {
	var names []string
	for _, gk := range r.Needs {
		names = append(names, gk.Kind)
	}
	if len(names) == 0 {
		return "nothing else"
	}
	return strings.Join(names, ", ")
}

// RuleIndex is the page that lists all rules by group.
func RuleIndex(rules []*lint.Rule) string {
	var b strings.Builder
	b.WriteString("# Rules\n\nWhat `kubectl gpu-quota lint` looks for. These pages are generated from the rules " +
		"themselves.\n")
	for _, g := range lint.Groups {
		title := fmt.Sprintf("\n## GQ%cxx %s\n\n| rule | severity | what |\n|---|---|---|\n", g.Digit, g.Title)
		for _, r := range rules {
			if r.ID[2] != g.Digit {
				continue
			}
			b.WriteString(title)
			title = ""
			fmt.Fprintf(&b, "| [%s](%s.md) %s | %s | %s |\n", r.ID, r.ID, r.Name, r.Severity, r.Doc.Title)
		}
	}
	return b.String()
}
