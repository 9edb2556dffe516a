package rules

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var constraintsAndConfig = &lint.Rule{
	ID: "GQ309", Name: "constraints-and-config", Severity: lint.Info,
	Doc: lint.Doc{
		Title: "Constraints and configuration of a claim do not change what it is charged",
		Why: "Sharing strategies, MIG settings and constraints such as matchAttribute narrow which devices a claim " +
			"gets, and how they are used. Kueue charges the devices asked for: half of a time-sliced GPU costs a " +
			"whole one, and devices that must match are not looked for before admission. Kueue 0.17 refuses such " +
			"templates.",
		Bad: "config:\n- opaque: {driver: gpu.nvidia.com, parameters: {sharing: {strategy: TimeSlicing}}}   # " +
			"charged as a whole GPU\n",
		Good:  "# fractions that are charged as such: partitions with counters, or consumable capacity\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeConstraints, charge.CodeClaimConfig) {
			p.ReportRefusalAs(lint.Error, r, "", "take a release of Kueue that accepts it, or write the template "+
				"without")
		}
		if p.Config.Behavior.RejectConstraintsAndConfig || !p.Config.DRA() {
			return
		}
		used := usedTemplates(p)
		for o, t := range cluster.All[*resourcev1.ResourceClaimTemplate](p.Snapshot, cluster.ResourceClaimTemplate) {
			if !used[o] {
				continue
			}
			if len(t.Spec.Spec.Devices.Constraints) > 0 {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.spec.devices.constraints").Name(),
					Message: "constraints do not change the charge, and whether devices meet them is not looked at " +
						"before admission"})
			}
			if len(t.Spec.Spec.Devices.Config) > 0 {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.spec.devices.config").Name(),
					Message: "configuration does not change the charge: a shared device costs as much as a whole one"})
			}
		}
	},
}
