package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var directClaim = &lint.Rule{
	ID: "GQ301", Name: "direct-resource-claim", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A pod template names a ResourceClaim directly",
		Why: "Kueue charges claims that are made from a template for each pod. A claim that exists by itself may be " +
			"shared, so Kueue can't attribute its cost and refuses the whole workload.",
		Bad:   "resourceClaims:\n- name: gpu\n  resourceClaimName: shared-gpu\n",
		Good:  "resourceClaims:\n- name: gpu\n  resourceClaimTemplateName: one-gpu\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeDirectClaim) {
			p.ReportRefusal(r, "", "make a ResourceClaimTemplate with the same spec and name it in "+
				"resourceClaimTemplateName")
		}
	},
}
