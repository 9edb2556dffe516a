package program

import (
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// TestCases: every cluster about which the program and Kueue once disagreed, with the answers of the real Kueue.
func TestCases(t *testing.T) {
	cases, err := outcome.ReadCases("../../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("there are no cases in testdata/conformance")
	}
	for _, c := range cases {
		for key, answers := range c.Answers {
			t.Run(c.Name+"/"+key, func(t *testing.T) {
				version, mode, _ := strings.Cut(key, "/")
				got, err := Simulate(c.Dump, version, mode == "replay")
				if err != nil {
					t.Fatal(err)
				}
				for _, difference := range outcome.CompareAny(answers, got) {
					t.Errorf("%s\n%s", c.Comment, difference)
				}
			})
		}
	}
}
