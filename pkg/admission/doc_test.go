package admission

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheDocumentationListsEveryFile keeps the list in doc.go, from which one finds where a rule stands.
func TestTheDocumentationListsEveryFile(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//   - (\S+\.go): `).FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		if !listed[name] {
			t.Errorf("doc.go doesn't list %s", name)
		}
		delete(listed, name)
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(code), "// ") {
			t.Errorf("%s doesn't begin with what it is about", name)
		}
	}
	for name := range listed {
		t.Errorf("doc.go lists %s, which does not exist", name)
	}
}
