package rules

import (
	"fmt"
	"maps"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var admissionCheckMissing = &lint.Rule{
	ID: "GQ410", Name: "admission-check-missing", Severity: lint.Error,
	Needs: kinds(cluster.AdmissionCheck),
	Doc: lint.Doc{
		Title: "An admission check is missing, clashes with another, or is for a flavor the queue lacks",
		Why: "A ClusterQueue with a missing or inactive admission check is inactive and admits nothing. So is one " +
			"with two checks of MultiKueue, with one of MultiKueue for some of its flavors only, or with one beside " +
			"a check of ProvisioningRequests. A check whose onFlavors names none of the queue's flavors never " +
			"applies, so workloads start without it.",
		Bad:   "admissionChecksStrategy:\n  admissionChecks:\n  - name: budget   # no such AdmissionCheck\n",
		Good:  "kind: AdmissionCheck\nmetadata: {name: budget}\nspec: {controllerName: example.com/budget}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/admission_check/"},
	},
	Check: func(p *lint.Pass) {
		kinds := slices.Sorted(maps.Keys(checkHelp))
		for _, r := range p.Closed(kinds...) {
			p.ReportRefusal(r, "", checkHelp[r.Problem.Inactive.Kind])
		}
		p.NeedForQueues(cluster.AdmissionCheck)
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			if cq.Spec.AdmissionChecksStrategy == nil {
				continue
			}
			for i, c := range cq.Spec.AdmissionChecksStrategy.AdmissionChecks {
				checkOnFlavors(p, o, cq, c, fmt.Sprintf("spec.admissionChecksStrategy.admissionChecks[%d]", i))
			}
		}
		for o, c := range p.EachCause(kinds...) {
			reportInactive(p, o, c, checkHelp[c.Kind])
		}
	},
}

// checkHelp says what to do about admission checks that make a ClusterQueue inactive.
var checkHelp = map[queuestate.CauseKind]string{
	queuestate.CheckNotFound: "create the AdmissionCheck, or take it out of the ClusterQueue",
	queuestate.CheckInactive: "see in the status of the AdmissionCheck what its controller lacks, or " +
		"take it out of the ClusterQueue",
	queuestate.SeveralMultiKueue:   "keep one of them",
	queuestate.MultiKueuePerFlavor: "leave onFlavors out: MultiKueue is for the whole ClusterQueue",
	queuestate.MultiKueueWithProvisioning: "keep one of the two kinds; the clusters that workloads are sent to may " +
		"have checks of their own",
}

// checkOnFlavors reports flavors that the queue does not have.
func checkOnFlavors(p *lint.Pass, o *cluster.Object, cq *kueue.ClusterQueue, c kueue.AdmissionCheckStrategyRule,
	path string) {
	for j, f := range c.OnFlavors {
		has := slices.ContainsFunc(cq.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
			return slices.ContainsFunc(g.Flavors, func(q kueue.FlavorQuotas) bool { return q.Name == f })
		})
		if !has {
			p.Report(lint.Diagnostic{At: lint.At(o, fmt.Sprintf("%s.onFlavors[%d]", path, j)), Severity: lint.Warning,
				Message: fmt.Sprintf("ClusterQueue %s has no flavor %s: the check %s never applies there", cq.Name, f,
					c.Name),
				Help: "name a flavor of the queue, or leave onFlavors out for all of them"})
		}
	}
}
