package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var unguardedAttribute = &lint.Rule{
	ID: "GQ206", Name: "unguarded-attribute", Severity: lint.Warning,
	Needs: kinds(cluster.ResourceSlice, cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A selector reads what only some devices have",
		Why: "As long as a device that has the attribute is met first the selector seems to work. On the first one " +
			"without it the search ends with an error, so whether a workload is admitted depends on the order of " +
			"devices. A device with a list for an attribute is such a one before 0.20, whatever the selector looks " +
			"at.",
		Bad: "cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].nvlink == true'}   # only some devices have " +
			"it\n",
		Good:  "cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].?nvlink.orValue(false)'}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for q := range p.DeviceRequests() {
			match := matching(p, q)
			if match == nil {
				continue
			}
			if matched, failing := match.Counts(); matched > 0 && failing > 0 {
				reportFailing(p, q, match, lint.Warning, fmt.Sprintf(", though %d match", matched))
			}
		}
	},
}
