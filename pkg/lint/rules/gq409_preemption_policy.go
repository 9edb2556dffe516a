package rules

import (
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var preemptionPolicy = &lint.Rule{
	ID: "GQ409", Name: "preemption-never-acts", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A preemption policy can never act",
		Why: "Reclaiming quota in a cohort needs quota of one's own to reclaim: for a workload that also asks for a " +
			"resource of which the queue owns nothing, reclaimWithinCohort does not act, and it waits behind " +
			"borrowers. Without a cohort the policies for cohorts do nothing.",
		Bad: "spec:\n  cohortName: research\n  preemption: {reclaimWithinCohort: Any}\n  resourceGroups: [...]   # " +
			"nvidia.com/gpu: 8, cpu: 0\n",
		Good: "spec:\n  cohortName: research\n  preemption: {reclaimWithinCohort: Any}\n  resourceGroups: [...]   # " +
			"nvidia.com/gpu: 8, cpu: 64\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/preemption/"},
	},
	Check: func(p *lint.Pass) {
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			preemption := cq.Spec.Preemption
			if preemption == nil {
				continue
			}
			reclaims := preemption.ReclaimWithinCohort != "" &&
				preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever
			switch {
			case reclaims && cq.Spec.CohortName == "":
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.preemption.reclaimWithinCohort"),
					Message: fmt.Sprintf("ClusterQueue %s is in no cohort: reclaimWithinCohort does nothing",
						cq.Name), Help: "set cohortName, or remove the field"})
			case reclaims:
				checkNothingOwned(p, o, cq)
			}
		}
	},
}

// checkNothingOwned reports the resources of which a reclaiming queue owns nothing in a flavor in which it owns
// another.
func checkNothingOwned(p *lint.Pass, o *cluster.Object, cq *kueue.ClusterQueue) {
	for i, g := range cq.Spec.ResourceGroups {
		for j, f := range g.Flavors {
			owns := ""
			for _, r := range f.Resources {
				if !r.NominalQuota.IsZero() {
					owns = string(r.Name)
				}
			}
			for k, r := range f.Resources {
				if owns == "" || !r.NominalQuota.IsZero() {
					continue
				}
				p.Report(lint.Diagnostic{At: lint.At(o,
					fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].resources[%d].nominalQuota", i, j, k)),
					Related: []lint.Place{lint.At(o, "spec.preemption.reclaimWithinCohort")},
					Message: fmt.Sprintf("ClusterQueue %s owns no %s in flavor %s: a workload that asks for it can't "+
						"reclaim the queue's %s either", cq.Name, r.Name, f.Name, owns),
					Help: "give the queue quota of its own for every resource its workloads ask for"})
			}
		}
	}
}
