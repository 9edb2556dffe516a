package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var firstAvailable = &lint.Rule{
	ID: "GQ303", Name: "first-available", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A device request lists alternatives",
		Why: "Which alternative of firstAvailable is taken is known only when a node is chosen, after quota is " +
			"reserved. Kueue can't charge it and refuses the whole workload.",
		Bad: "- name: gpu\n  firstAvailable:\n  - {name: big, deviceClassName: h100.example.com}\n  - {name: " +
			"small, deviceClassName: a100.example.com}\n",
		Good:  "- name: gpu\n  exactly: {deviceClassName: a100.example.com}\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		help := "ask for one class under exactly"
		if p.Config.Behavior.PrioritizedList {
			help = "give every alternative the same count, of classes that are mapped to the same resource by number"
		}
		for _, r := range p.Refusals(charge.CodeFirstAvailable) {
			p.ReportRefusal(r, "", help)
		}
		used := usedTemplates(p)
		seen := map[string]bool{}
		for q := range p.DeviceRequests() {
			if !q.Alternative || !q.OfTemplate() || !p.Config.DRA() || p.Config.Behavior.PrioritizedList {
				continue
			}
			at := q.Parent()
			key := q.Object.Ref.String() + at.Path
			if seen[key] {
				continue
			}
			seen[key] = true
			d := lint.Diagnostic{At: lint.At(q.Object, at.Path+".firstAvailable").Name(), Help: help,
				Message: "alternatives (firstAvailable) have no charge that can be told beforehand: Kueue refuses " +
					"every workload that claims them"}
			switch {
			case p.Refused(at):
				p.Report(d)
			case !used[q.Object]:
				d.Severity = lint.Warning
				p.Report(d)
			}
		}
	},
}
