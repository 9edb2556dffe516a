package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var templateMissing = &lint.Rule{
	ID: "GQ304", Name: "claim-template-missing", Severity: lint.Error,
	Needs: kinds(cluster.ResourceClaimTemplate),
	Doc: lint.Doc{
		Title: "A claim template does not exist in the workload's namespace",
		Why: "Kueue reads the template to know what a pod's claim costs. While it is missing the workload is " +
			"refused, and nothing of it is charged. Templates are looked up in the namespace of the pods, nowhere " +
			"else.",
		Bad:   "resourceClaims:\n- name: gpu\n  resourceClaimTemplateName: one-gpu   # exists in another namespace\n",
		Good:  "resourceClaims:\n- name: gpu\n  resourceClaimTemplateName: one-gpu   # exists in this one\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeTemplateNotFound) {
			p.ReportRefusal(r, "", elsewhere(p, r.At.Value, r.Charge.Workload.Namespace))
		}
		for t := range p.PodTemplates() {
			for i, c := range t.Spec().ResourceClaims {
				if c.ResourceClaimTemplateName == nil || t.Workload.State.MakesWorkload() && p.Config.DRA() {
					continue
				}
				name := *c.ResourceClaimTemplateName
				if p.Snapshot.Get(cluster.ResourceClaimTemplate, t.Namespace(), name) != nil ||
					!p.NeedIn(t.Namespace(), cluster.ResourceClaimTemplate) {
					continue
				}
				p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("spec.resourceClaims[%d].resourceClaimTemplateName", i)),
					Severity: lint.Warning,
					Message: fmt.Sprintf("ResourceClaimTemplate %s/%s does not exist: the pods wait for it",
						t.Namespace(), name), Help: elsewhere(p, name, t.Namespace())})
			}
		}
	},
}

// elsewhere tells where a template of the name is.
func elsewhere(p *lint.Pass, name, namespace string) string {
	for _, o := range p.Snapshot.List(cluster.ResourceClaimTemplate) {
		if o.Ref.Name == name && o.Ref.Namespace != namespace {
			return fmt.Sprintf("there is one of that name in namespace %s; a template has to be in the namespace of "+
				"the pods", o.Ref.Namespace)
		}
	}
	return "create the template in namespace " + namespace + ", or name one that exists there"
}
