package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// writeJUnit writes one test suite with one test case for each rule. A rule that could not be evaluated is skipped.
func writeJUnit(w io.Writer, d *Findings) error {
	suite := junit.Testsuite{Name: "kubectl gpu-quota lint", Time: "0.000"}
	missing := map[string][]string{}
	for _, u := range d.result.Unevaluated {
		missing[u.Rule.ID] = u.Missing
	}
	of := map[string][]lint.Finding{}
	for _, f := range d.result.Findings {
		of[f.Rule.ID] = append(of[f.Rule.ID], f)
	}
	for _, r := range d.rules {
		c := junit.Testcase{Name: r.ID + " " + r.Doc.Title, Classname: r.Name, Time: "0.000"}
		switch {
		case len(of[r.ID]) > 0:
			c.Failure = failure(r, of[r.ID])
		case len(missing[r.ID]) > 0:
			c.Skipped = &junit.Result{Message: "not in the input: " + strings.Join(missing[r.ID], ", ")}
		}
		suite.AddTestcase(c)
	}
	var suites junit.Testsuites
	suites.AddSuite(suite)
	return suites.WriteXML(w)
}

func failure(r *lint.Rule, findings []lint.Finding) *junit.Result {
	var lines []string
	worst := lint.Info
	for _, f := range findings {
		if f.Severity.AtLeast(worst) {
			worst = f.Severity
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", f.At, f.Severity, clean(findingText(f))))
	}
	return &junit.Result{Message: countOf(len(findings), "finding"), Type: string(worst),
		Data: strings.Join(lines, "\n")}
}
