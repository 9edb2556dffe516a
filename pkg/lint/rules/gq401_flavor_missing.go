package rules

import (
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var flavorMissing = &lint.Rule{
	ID: "GQ401", Name: "flavor-missing", Severity: lint.Error,
	Needs: kinds(cluster.ResourceFlavor),
	Doc: lint.Doc{
		Title: "A ClusterQueue names a ResourceFlavor that does not exist",
		Why: "One missing flavor makes the whole ClusterQueue inactive: it admits nothing at all, not even workloads that would " +
			"use its other flavors, and what it would lend is lost to its cohort.",
		Bad:   "kind: ClusterQueue\nspec:\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n    - name: h100   # no such ResourceFlavor\n",
		Good:  "kind: ResourceFlavor\nmetadata: {name: h100}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/", linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Blocked(cluster.ClusterQueue.Kind, "spec.resourceGroups") {
			p.ReportRefusal(r, "", "create the ResourceFlavor, or take it out of the ClusterQueue")
		}
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			for i, g := range cq.Spec.ResourceGroups {
				for j, f := range g.Flavors {
					if p.Snapshot.Get(cluster.ResourceFlavor, "", string(f.Name)) != nil || !p.Need(cluster.ResourceFlavor) {
						continue
					}
					p.Report(lint.Diagnostic{At: lint.At(o, fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].name", i, j)),
						Message: fmt.Sprintf("ResourceFlavor %s does not exist: ClusterQueue %s is inactive and admits nothing", f.Name, cq.Name),
						Help:    "create the ResourceFlavor, or take it out of the ClusterQueue"})
				}
			}
		}
	},
}
