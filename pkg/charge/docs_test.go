package charge_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The codes are part of the output's contract: each stands in the documentation.
func TestEveryProblemCodeIsDocumented(t *testing.T) {
	code, err := os.ReadFile("problem.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\tCode\w+\s+= "(\w+)"$`).FindAllStringSubmatch(string(code), -1)
	if len(found) < 20 {
		t.Fatalf("only %d codes found", len(found))
	}
	for _, m := range found {
		if !strings.Contains(string(docs), "`"+m[1]+"`") {
			t.Errorf("docs/semantics.md does not explain %s", m[1])
		}
	}
}
