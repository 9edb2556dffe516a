package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var capacityPolicy = &lint.Rule{
	ID: "GQ219", Name: "capacity-beyond-policy", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A request takes more of a capacity than any device allows",
		Why: "A device's requestPolicy says which parts of a capacity may be asked for. A request above the largest " +
			"one can't be met by any device, and Kueue refuses the workload.",
		Bad:   "capacity: {requests: {memory: 90Gi}}   # validRange.max is 80Gi\n",
		Good:  "capacity: {requests: {memory: 80Gi}}\n",
		Since: "Kueue 0.19",
		Links: []string{linkDRA, linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeCapacityPolicy) {
			p.ReportRefusal(r, "", "ask for less, within requestPolicy of the devices")
		}
	},
}
