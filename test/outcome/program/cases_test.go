package program

import (
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

const casesDirectory = "../../../testdata/conformance"

// TestCases: clusters about which the program and Kueue once disagreed, with the answers of the real Kueue.
func TestCases(t *testing.T) {
	for _, c := range readCases(t, casesDirectory) {
		for key := range c.Answers {
			t.Run(c.Name+"/"+key, func(t *testing.T) {
				for _, difference := range differences(t, c, key) {
					t.Errorf("%s\n%s", c.Comment, difference)
				}
			})
		}
	}
}

func readCases(t *testing.T, directory string) []*outcome.Case {
	t.Helper()
	cases, err := outcome.ReadCases(directory)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("there are no cases in %s", directory)
	}
	return cases
}

func differences(t *testing.T, c *outcome.Case, key string) []outcome.Difference {
	t.Helper()
	version, mode, _ := strings.Cut(key, "/")
	got, err := Simulate(c.Dump, version, mode == "replay")
	if err != nil {
		t.Fatal(err)
	}
	return outcome.CompareAny(c.Answers[key], got)
}
