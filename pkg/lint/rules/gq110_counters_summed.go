package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var countersSummed = &lint.Rule{
	ID: "GQ110", Name: "counters-summed", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "Several counters are charged to one resource",
		Why: "Every source of a mapping charges the mapping's resource. Two counters of one driver, such as memory " +
			"and multiprocessors, are then added up: bytes and units make a number that stands for neither.",
		Bad: "- name: gpu.memory\n  sources:\n  - counter: {name: memory, driver: gpu.nvidia.com}\n  - counter: " +
			"{name: multiprocessors, driver: gpu.nvidia.com}\n",
		Good: "- name: gpu.memory\n  sources: [{counter: {name: memory, driver: gpu.nvidia.com}}]\n- name: gpu.sm\n " +
			" sources: [{counter: {name: multiprocessors, driver: gpu.nvidia.com}}]\n",
		Since: "Kueue 0.19",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		first := map[[2]string]configuredSource{}
		for _, s := range eachSource(p) {
			key := [2]string{s.resource, s.driver}
			before, seen := first[key]
			switch {
			case !seen:
				first[key] = s
			case before.name != s.name:
				p.Report(lint.Diagnostic{At: s.at(p, "name"),
					Related: []lint.Place{before.at(p, "name").Saying("added to this one")},
					Message: fmt.Sprintf("%s and %s of %s are both charged to %s, and added up", before.name, s.name,
						s.driver, s.resource),
					Help: "give each a mapping with a resource of its own: a class may be in several mappings with " +
						"different counters"})
			}
		}
	},
}
