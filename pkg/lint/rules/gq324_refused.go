package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var refused = &lint.Rule{
	ID: "GQ324", Name: "refused-by-version", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "Kueue of this version refuses a workload, or stops working because of it",
		Why: "Some releases refuse what others accept: selectors in claim templates, amounts beyond what can be " +
			"counted. Some stop with an error on an object that others read. Such a workload waits for ever, and may " +
			"keep the manager from working for the others.",
		Bad: "# --kueue-version v0.17.0\nrequests:\n- name: gpu\n  exactly: {deviceClassName: gpu.example.com, " +
			"selectors: [{cel: {expression: \"true\"}}]}\n",
		Good:  "requests:\n- name: gpu\n  exactly: {deviceClassName: gpu.example.com}\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeSelectorsUnsupported, charge.CodeExactlyMissing,
			charge.CodeExtendedOverflow, charge.CodeManagerPanics) {
			p.ReportRefusal(r, "", "")
		}
		for _, r := range p.Blocked("", "status.") { // what only its own status tells of
			p.ReportRefusal(r, "", "")
		}
	},
}
