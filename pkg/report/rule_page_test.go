package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rules"
)

// ruleDir holds the generated pages that are committed.
const ruleDir = "../../docs/rules"

// TestRulePagesAreCurrent holds the pages of docs/rules to the rules.
func TestRulePagesAreCurrent(t *testing.T) {
	pages := map[string]string{"README.md": RuleIndex(rules.All())}
	for _, r := range rules.All() {
		pages[r.ID+".md"] = RuleMarkdown(r)
	}
	for name, want := range pages {
		path := filepath.Join(ruleDir, name)
		if *update {
			if err := os.MkdirAll(ruleDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the rule says; run the test with -update (-generated +committed):\n%s", path, diff)
		}
	}
	entries, err := os.ReadDir(ruleDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := pages[e.Name()]; !ok {
			t.Errorf("%s/%s belongs to no rule; remove it", ruleDir, e.Name())
		}
	}
}
