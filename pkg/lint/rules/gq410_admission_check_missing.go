package rules

import (
	"fmt"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var admissionCheckMissing = &lint.Rule{
	ID: "GQ410", Name: "admission-check-missing", Severity: lint.Error,
	Needs: kinds(cluster.AdmissionCheck),
	Doc: lint.Doc{
		Title: "An admission check does not exist, or is bound to a flavor the queue lacks",
		Why: "A ClusterQueue with a missing admission check is inactive and admits nothing. A check whose onFlavors names none of " +
			"the queue's flavors never applies, so workloads start without it.",
		Bad:   "admissionChecksStrategy:\n  admissionChecks:\n  - name: budget   # no such AdmissionCheck\n",
		Good:  "kind: AdmissionCheck\nmetadata: {name: budget}\nspec: {controllerName: example.com/budget}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/admission_check/"},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Blocked(cluster.ClusterQueue.Kind, "spec.admissionChecksStrategy") {
			p.ReportRefusal(r, "", "create the AdmissionCheck, or take it out of the ClusterQueue")
		}
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			if cq.Spec.AdmissionChecksStrategy == nil {
				continue
			}
			for i, c := range cq.Spec.AdmissionChecksStrategy.AdmissionChecks {
				checkRule(p, o, cq, c, fmt.Sprintf("spec.admissionChecksStrategy.admissionChecks[%d]", i))
			}
		}
	},
}

func checkRule(p *lint.Pass, o *cluster.Object, cq *kueue.ClusterQueue, c kueue.AdmissionCheckStrategyRule, path string) {
	if p.Snapshot.Get(cluster.AdmissionCheck, "", string(c.Name)) == nil && p.Need(cluster.AdmissionCheck) {
		p.Report(lint.Diagnostic{At: lint.At(o, path+".name"),
			Message: fmt.Sprintf("AdmissionCheck %s does not exist: ClusterQueue %s is inactive and admits nothing", c.Name, cq.Name),
			Help:    "create the AdmissionCheck, or take it out of the ClusterQueue"})
	}
	for j, f := range c.OnFlavors {
		has := slices.ContainsFunc(cq.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
			return slices.ContainsFunc(g.Flavors, func(q kueue.FlavorQuotas) bool { return q.Name == f })
		})
		if !has {
			p.Report(lint.Diagnostic{At: lint.At(o, fmt.Sprintf("%s.onFlavors[%d]", path, j)), Severity: lint.Warning,
				Message: fmt.Sprintf("ClusterQueue %s has no flavor %s: the check %s never applies there", cq.Name, f, c.Name),
				Help:    "name a flavor of the queue, or leave onFlavors out for all of them"})
		}
	}
}
