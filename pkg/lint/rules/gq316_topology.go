package rules

import (
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var devicesWithTopology = &lint.Rule{
	ID: "GQ316", Name: "devices-with-topology", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "Devices are claimed in a queue whose flavor is placed by topology",
		Why: "Topology-aware scheduling chooses nodes by the pods' ordinary requests. It does not know which nodes " +
			"have devices, or how many are taken: a workload can be admitted to a rack without free GPUs, hold its " +
			"quota, and never start.",
		Bad: "kind: ResourceFlavor\nspec: {topologyName: racks}   # and the job claims gpu.nvidia.com\n",
		Good: "kind: ResourceFlavor\nspec: {nodeLabels: {gpu: \"yes\"}}   # without topology, for what claims " +
			"devices\n",
		Since: "Kueue 0.17",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/"},
	},
	Check: func(p *lint.Pass) {
		if !p.Config.Enabled(release.TopologyAwareScheduling) {
			return
		}
		for _, c := range p.Charges() {
			if !lint.Waits(c.Workload) || c.Verdict == charge.Inadmissible {
				continue
			}
			cq, _ := p.ClusterQueueOf(c.Workload.Namespace, c.Workload.Queue)
			if cq == nil {
				continue
			}
			checkTopology(p, c, cq)
		}
	},
}

// throughDevices are the methods by which devices that topology does not know of are charged.
var throughDevices = map[charge.Method]bool{charge.DeviceCount: true, charge.ExtendedResource: true,
	charge.Counter: true, charge.Capacity: true}

func checkTopology(p *lint.Pass, c *charge.Charge, cq *kueue.ClusterQueue) {
	for _, ps := range c.PodSets {
		for _, l := range ps.Lines {
			if !throughDevices[l.Method] || l.Total == 0 || len(l.Evidence) == 0 {
				continue
			}
			flavor := topologyFlavor(p, cq, l)
			if flavor == nil {
				continue
			}
			p.Report(lint.Diagnostic{At: lint.Evidence(l.Evidence[0]), Cause: lint.At(flavor, "spec.topologyName"),
				Related: []lint.Place{lint.At(flavor, "spec.topologyName")},
				Message: fmt.Sprintf("it is charged for devices (%s) in flavor %s, whose nodes are chosen by "+
					"topology without looking at devices", l.Resource, flavor.Ref.Name),
				Help: "put device quota into a flavor without topologyName"})
			return
		}
	}
}

// topologyFlavor is the first flavor with a topology that has quota for what a line charges.
func topologyFlavor(p *lint.Pass, cq *kueue.ClusterQueue, l charge.Line) *cluster.Object {
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			flavor, o, ok := cluster.Lookup[*kueue.ResourceFlavor](p.Snapshot, cluster.ResourceFlavor, "",
				string(f.Name))
			if !ok || flavor.Spec.TopologyName == nil {
				continue
			}
			for _, r := range f.Resources {
				if r.Name == l.Resource {
					return o
				}
			}
		}
	}
	return nil
}
