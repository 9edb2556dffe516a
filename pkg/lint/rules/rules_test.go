package rules_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rules"
)

// TestRulesAreDocumented holds every rule to the form the generated pages need.
func TestRulesAreDocumented(t *testing.T) {
	id, name := regexp.MustCompile(`^GQ[0-9]{3}$`), regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	ids, names, last := map[string]bool{}, map[string]bool{}, ""
	for _, r := range rules.All() {
		if !id.MatchString(r.ID) || !name.MatchString(r.Name) || ids[r.ID] || names[r.Name] {
			t.Errorf("rule %s %s: the ID or name has the wrong form, or is taken", r.ID, r.Name)
		}
		ids[r.ID], names[r.Name] = true, true
		if r.ID < last {
			t.Errorf("%s stands behind %s in All", r.ID, last)
		}
		last = r.ID
		if r.Check == nil || !r.Severity.AtLeast(lint.Info) {
			t.Errorf("%s has no check or no severity", r.ID)
		}
		d := r.Doc
		if d.Title == "" || strings.HasSuffix(d.Title, ".") || len(d.Title) > 90 || !strings.HasSuffix(d.Why, ".") || d.Since == "" {
			t.Errorf("%s: its documentation needs a title without full stop, a reason with one, and a version", r.ID)
		}
		if r != lint.RuleFailed && (d.Bad == "" || d.Good == "") {
			t.Errorf("%s has no bad or no good example", r.ID)
		}
	}
}
