package rules

import (
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var unreadableDocument = &lint.Rule{
	ID: "GQ001", Name: "unreadable-document", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A document can't be read",
		Why: "What is not read is not checked, and what depends on it is judged as if it did not exist: a queue whose " +
			"document is broken looks like a missing queue.",
		Bad:   "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train\n",
		Good:  "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\n",
		Since: "every version",
	},
	Check: func(p *lint.Pass) {
		for _, problem := range p.Snapshot.Problems {
			if strings.Contains(problem.Reason, "is not supported (supported: ") {
				continue // rule GQ501 tells of versions
			}
			at := lint.Place{File: problem.File, Line: problem.Line}
			if problem.File == "" {
				at.Ref.Name = problem.Where
			}
			p.Report(lint.Diagnostic{At: at, Message: problem.Reason, Help: "the rest of the input is checked; leave " +
				"files that are no manifests out with exclude in .gpu-quota.yaml"})
		}
	},
}
