package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var claimUnused = &lint.Rule{
	ID: "GQ305", Name: "claim-unused", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A claim is charged although no container uses it",
		Why: "Every entry of a pod's resourceClaims is allocated and charged, whether a container names it or not. The " +
			"devices are held for the whole life of the pod and nothing can see them.",
		Bad: "containers:\n- name: main\nresourceClaims:\n- {name: gpu, resourceClaimTemplateName: one-gpu}\n",
		Good: "containers:\n- name: main\n  resources:\n    claims: [{name: gpu}]\nresourceClaims:\n- {name: gpu, " +
			"resourceClaimTemplateName: one-gpu}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for t := range p.PodTemplates() {
			used := map[string]bool{}
			for _, u := range claimUses(t) {
				used[u.name] = true
			}
			for i, c := range t.Spec().ResourceClaims {
				if !used[c.Name] {
					p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("spec.resourceClaims[%d].name", i)),
						Message: fmt.Sprintf("no container uses claim %s, but its devices are allocated and charged",
							c.Name),
						Help: "name it in resources.claims of the container that needs it, or remove the entry"})
				}
			}
		}
	},
}

// claimUse is one entry of a container's resources.claims.
type claimUse struct{ name, path string }

func claimUses(t lint.PodTemplate) []claimUse {
	var out []claimUse
	for c := range containers(t.Spec()) {
		for j, claim := range c.of.Resources.Claims {
			out = append(out, claimUse{claim.Name, fmt.Sprintf("%s.resources.claims[%d].name", c.path, j)})
		}
	}
	if pod := t.Spec().Resources; pod != nil {
		for j, claim := range pod.Claims {
			out = append(out, claimUse{claim.Name, fmt.Sprintf("spec.resources.claims[%d].name", j)})
		}
	}
	return out
}
