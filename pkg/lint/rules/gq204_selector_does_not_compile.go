package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var selectorDoesNotCompile = &lint.Rule{
	ID: "GQ204", Name: "selector-does-not-compile", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A CEL selector does not compile",
		Why: "The API server refuses a class or a claim whose selector does not compile, and Kueue does not start " +
			"with such a source. Selectors are compiled here as for new objects, which is stricter than for those " +
			"that are stored already.",
		Bad:   "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory >= quantity(\"40Gi\")'}\n",
		Good:  "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory.compareTo(quantity(\"40Gi\")) >= 0'}\n",
		Since: "every version",
		Links: []string{"https://kubernetes.io/docs/reference/using-api/cel/", linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeInvalidSelector) {
			p.ReportRefusal(r, "", "")
		}
		for _, s := range p.Selectors() {
			detail, tooExpensive := p.CompileNew(s.Text)
			switch {
			case detail != "":
				p.Report(lint.Diagnostic{At: s.At,
					Message: fmt.Sprintf("the selector of this %s does not compile: %s", s.Of,
						detail), Help: rightForm(p, s)})
			case tooExpensive && s.Of != lint.OfSource:
				p.Report(lint.Diagnostic{At: s.At, Message: fmt.Sprintf("the selector of this %s may cost more to "+
					"evaluate than the API server allows",
					s.Of), Help: "make it shorter, without loops over attributes"})
			}
		}
	},
}
