package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var flavorMissing = &lint.Rule{
	ID: "GQ401", Name: "flavor-missing", Severity: lint.Error,
	Needs: kinds(cluster.ResourceFlavor),
	Doc: lint.Doc{
		Title: "A ClusterQueue names a ResourceFlavor that does not exist",
		Why: "One missing flavor makes the whole ClusterQueue inactive: it admits nothing at all, not even workloads " +
			"that would use its other flavors, and what it would lend is lost to its cohort.",
		Bad: "kind: ClusterQueue\nspec:\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n " +
			"   - name: h100   # no such ResourceFlavor\n",
		Good:  "kind: ResourceFlavor\nmetadata: {name: h100}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/", linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		helps := map[queuestate.CauseKind]string{
			queuestate.FlavorNotFound:   "create the ResourceFlavor, or take it out of the ClusterQueue",
			queuestate.TopologyNotFound: "create the Topology, or take the topologyName out of the ResourceFlavor",
		}
		for _, r := range p.Closed(queuestate.FlavorNotFound, queuestate.TopologyNotFound) {
			p.ReportRefusal(r, "", helps[r.Problem.Inactive.Kind])
		}
		p.NeedForQueues(cluster.ResourceFlavor)
		for o, c := range p.EachCause(queuestate.FlavorNotFound, queuestate.TopologyNotFound) {
			reportInactive(p, o, c, helps[c.Kind])
		}
	},
}

// reportInactive reports on a ClusterQueue why it is inactive.
func reportInactive(p *lint.Pass, o *cluster.Object, c queuestate.Cause, help string) {
	p.Report(lint.Diagnostic{At: lint.At(o, c.Path),
		Message: fmt.Sprintf("%s: ClusterQueue %s is inactive and admits nothing", c.Text(), o.Ref.Name), Help: help})
}
