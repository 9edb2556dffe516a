package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var queueRefused = &lint.Rule{
	ID: "GQ404", Name: "cluster-queue-refused", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A ClusterQueue breaks a rule of its API, so that it is refused",
		Why: "The API server or Kueue's webhook refuses the object: a limit on borrowing or lending without a " +
			"cohort, more to lend than there is, resources that do not follow coveredResources, preemption fields " +
			"that contradict. The quota that was there before, or none, stays in force.",
		Bad: "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: default\n      " +
			"resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 2}]   # no cohort\n",
		Good:  "spec:\n  cohortName: research\n",
		Since: "every version",
		Links: []string{linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			refuse := func(path, format string, args ...any) {
				p.Report(lint.Diagnostic{At: lint.At(o, path), Message: "the API refuses this ClusterQueue: " +
					fmt.Sprintf(format, args...)})
			}
			checkGroups(cq, refuse)
			checkPreemption(cq, refuse)
		}
	},
}

type refuseFunc func(path, format string, args ...any)

func checkGroups(cq *kueue.ClusterQueue, refuse refuseFunc) {
	covered, flavors := map[corev1.ResourceName]bool{}, map[kueue.ResourceFlavorReference]bool{}
	for i, g := range cq.Spec.ResourceGroups {
		for k, name := range g.CoveredResources {
			if covered[name] {
				refuse(fmt.Sprintf("spec.resourceGroups[%d].coveredResources[%d]", i, k), "%s is covered twice", name)
			}
			covered[name] = true
		}
		for j, f := range g.Flavors {
			at := fmt.Sprintf("spec.resourceGroups[%d].flavors[%d]", i, j)
			if flavors[f.Name] {
				refuse(at+".name", "flavor %s stands in it twice", f.Name)
			}
			flavors[f.Name] = true
			if len(f.Resources) != len(g.CoveredResources) {
				refuse(at+".name", "flavor %s has quotas for %d resources, and the group covers %d", f.Name,
					len(f.Resources), len(g.CoveredResources))
				continue
			}
			for k, r := range f.Resources {
				checkQuota(cq, g, r, k, fmt.Sprintf("%s.resources[%d]", at, k), refuse)
			}
		}
	}
}

func checkQuota(cq *kueue.ClusterQueue, g kueue.ResourceGroup, r kueue.ResourceQuota, k int, at string,
	refuse refuseFunc) {
	if r.Name != g.CoveredResources[k] {
		refuse(at+".name", "the quotas must follow coveredResources, which has %s here", g.CoveredResources[k])
	}
	if r.NominalQuota.Sign() < 0 {
		refuse(at+".nominalQuota", "a quota must not be negative")
	}
	if r.BorrowingLimit != nil && cq.Spec.CohortName == "" {
		refuse(at+".borrowingLimit", "borrowingLimit must be nil when cohort is empty")
	}
	if r.LendingLimit == nil {
		return
	}
	if cq.Spec.CohortName == "" {
		refuse(at+".lendingLimit", "lendingLimit must be nil when cohort is empty")
	}
	if r.LendingLimit.Cmp(r.NominalQuota) > 0 {
		refuse(at+".lendingLimit", "it lends %s of %s, and has %s", r.LendingLimit.String(), r.Name,
			r.NominalQuota.String())
	}
}

func checkPreemption(cq *kueue.ClusterQueue, refuse refuseFunc) {
	if p := cq.Spec.Preemption; p != nil && p.BorrowWithinCohort != nil && p.BorrowWithinCohort.Policy != "" &&
		p.BorrowWithinCohort.Policy != kueue.BorrowWithinCohortPolicyNever &&
		(p.ReclaimWithinCohort == kueue.PreemptionPolicyNever) {
		refuse("spec.preemption.borrowWithinCohort.policy", "borrowWithinCohort can't preempt while "+
			"reclaimWithinCohort is Never")
	}
	if f := cq.Spec.FlavorFungibility; f != nil && f.Preference != nil &&
		(f.WhenCanBorrow != kueue.TryNextFlavor || f.WhenCanPreempt != kueue.TryNextFlavor) {
		refuse("spec.flavorFungibility.preference", "preference can be set only when both whenCanBorrow and "+
			"whenCanPreempt are TryNextFlavor")
	}
}
