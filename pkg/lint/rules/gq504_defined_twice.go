package rules

import (
	"fmt"
	"path/filepath"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var definedTwice = &lint.Rule{
	ID: "GQ504", Name: "defined-twice", Severity: lint.Warning, Concurrent: true,
	Doc: lint.Doc{
		Title: "The same object is defined twice in the files linted",
		Why: "Of two manifests for one object the one that is applied last counts, and which that is depends on the " +
			"order of files. Quota changed in one of them comes and goes. What lint says holds for the last one read.",
		Bad:   "kind: ClusterQueue\nmetadata: {name: gpus}\n---\nkind: ClusterQueue\nmetadata: {name: gpus}\n",
		Good:  "kind: ClusterQueue\nmetadata: {name: gpus}\n---\nkind: ClusterQueue\nmetadata: {name: gpus-2}\n",
		Since: "every version",
	},
	Check: func(p *lint.Pass) {
		first := map[cluster.Ref]lint.Place{}
		for i := range p.Documents {
			d := &p.Documents[i]
			at := lint.AtDocument(d, "metadata.name")
			key := at.Ref
			key.APIVersion = lint.GroupOf(d) // versions of one group are the same object
			if at.Ref.Name == "" || at.Ref.Name[len(at.Ref.Name)-1] == '*' {
				continue
			}
			before, twice := first[key]
			if !twice {
				first[key] = at
				continue
			}
			severity := lint.Warning
			if filepath.Dir(before.Origin.File) != filepath.Dir(d.Origin.File) {
				severity = lint.Info // variants of one object, such as those of several clusters
			}
			p.Report(lint.Diagnostic{At: at, Severity: severity,
				Related: []lint.Place{before.Saying("defined here before")},
				Message: fmt.Sprintf("%s is defined before: the one that is applied last counts",
					at.Ref), Help: "remove one of them, or lint variants one by one"})
		}
	},
}
