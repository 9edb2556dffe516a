package rules

import (
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var prefixDoesNotExclude = &lint.Rule{
	ID: "GQ112", Name: "prefix-does-not-exclude", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "An excluded prefix does not exclude what devices are charged",
		Why: "excludeResourcePrefixes drops ordinary requests of pods. What claims and mapped extended resources " +
			"cost is added afterwards and is charged whatever the prefixes say.",
		Bad:   "excludeResourcePrefixes: [gpu.]\ndeviceClassMappings:\n- name: gpu.memory\n",
		Good:  "excludeResourcePrefixes: [example.com/]\ndeviceClassMappings:\n- name: gpu.memory\n",
		Since: "Kueue 0.17",
		Links: []string{linkConfig},
	},
	Check: func(p *lint.Pass) {
		res := p.Config.Configuration.Resources
		if res == nil {
			return
		}
		for i, prefix := range res.ExcludeResourcePrefixes {
			for _, m := range p.Config.Mappings() {
				if prefix == "" || !strings.HasPrefix(string(m.Name), prefix) {
					continue
				}
				p.Report(lint.Diagnostic{At: p.Configured(fmt.Sprintf("resources.excludeResourcePrefixes[%d]", i)),
					Message: fmt.Sprintf("prefix %s does not exclude %s, which devices are charged to", prefix, m.Name),
					Help: "remove the prefix; to charge nothing for a device class there is no setting: its " +
						"claims need a mapping",
					Related: []lint.Place{p.Configured(m.Path + ".name").Saying("charged for devices here")}})
			}
		}
	},
}
