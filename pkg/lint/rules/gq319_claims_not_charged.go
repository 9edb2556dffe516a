package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var claimsNotCharged = &lint.Rule{
	ID: "GQ319", Name: "claims-not-charged", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "Claims are refused or free, because Dynamic Resource Allocation is off in Kueue",
		Why: "Without the gate KueueDRAIntegration (DynamicResourceAllocation in 0.17) Kueue does not charge claims. " +
			"From 0.18 on it refuses workloads that have them; before, and with " +
			"KueueDRARejectWorkloadsWhenDRADisabled off, their devices are free.",
		Bad:   "featureGates: {KueueDRAIntegration: false}\n",
		Good:  "featureGates: {KueueDRAIntegration: true}\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeDRADisabled) {
			p.ReportRefusal(r, "", "")
		}
		if p.Config.DRA() || p.Config.Behavior.RejectDRAWhenDisabled {
			return
		}
		for t := range p.PodTemplates() {
			if !t.Workload.State.MakesWorkload() || !lint.Waits(t.Workload) {
				continue
			}
			for i := range t.Spec().ResourceClaims {
				p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("spec.resourceClaims[%d]", i)), Severity: lint.Warning,
					Message: fmt.Sprintf("Kueue %s does not charge claims with this configuration: the devices are free",
						p.Config.Version),
					Help: "turn the feature gate for Dynamic Resource Allocation on"})
				break
			}
		}
	},
}
