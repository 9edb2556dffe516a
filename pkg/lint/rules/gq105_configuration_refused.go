package rules

import (
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var configurationRefused = &lint.Rule{
	ID: "GQ105", Name: "configuration-refused", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "Kueue does not start with this configuration",
		Why: "The manager checks its configuration when it starts and ends with an error where a rule is broken. A " +
			"change that breaks one is noticed only at the next restart: then no workload is admitted at all.",
		Bad: "deviceClassMappings:\n- {name: gpus, deviceClassNames: [gpu.example.com]}\n- {name: cards, " +
			"deviceClassNames: [gpu.example.com]}\n",
		Good:  "deviceClassMappings:\n- {name: gpus, deviceClassNames: [gpu.example.com]}\n",
		Since: "every version, by its own rules",
		Links: []string{linkConfig},
	},
	Check: func(p *lint.Pass) {
		for _, problem := range p.Config.Problems {
			if aboutGate(problem.Message) {
				continue // rule GQ106 or GQ107 tells more
			}
			at := p.Configured(problem.Path)
			if strings.Contains(problem.Message, "unknown field") {
				at = at.Name()
			}
			p.Report(lint.Diagnostic{At: at, Message: "Kueue " + p.Config.Version + " does not start: " +
				problem.Message})
		}
	},
}

// aboutGate tells that a refusal is one that rule GQ106 or GQ107 words.
func aboutGate(message string) bool {
	return strings.Contains(message, "unrecognized feature gate: ") ||
		strings.Contains(message, "sources require KueueDRAIntegration")
}
