package rules

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var mappingNotCovered = &lint.Rule{
	ID: "GQ102", Name: "mapping-not-covered", Severity: lint.Warning,
	Needs: kinds(cluster.ClusterQueue),
	Doc: lint.Doc{
		Title: "A mapping charges a resource that no ClusterQueue covers",
		Why: "Devices of the mapped classes are charged to this resource. While no ClusterQueue covers it, every " +
			"workload that claims such a device stays pending: the resource is unavailable in its queue.",
		Bad:   "deviceClassMappings:\n- name: gpu.memory\n---\ncoveredResources: [cpu, gpu-memory]\n",
		Good:  "deviceClassMappings:\n- name: gpu.memory\n---\ncoveredResources: [cpu, gpu.memory]\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		if !p.Config.Found || p.Config.IgnoresUndeclared() {
			return
		}
		for _, m := range p.Config.Mappings() {
			if !p.Need(cluster.ClusterQueue) {
				return
			}
			if coveredAnywhere(p, m.Name) {
				continue
			}
			severity := lint.Warning
			if !asksAny(p, m.DeviceClassNames) {
				severity = lint.Info // nothing in the input would be charged to it
			}
			p.Report(lint.Diagnostic{Severity: severity,
				At: p.Configured(m.Path + ".name"),
				Message: fmt.Sprintf("no ClusterQueue covers %s: workloads that claim its device classes stay pending",
					m.Name),
				Help: fmt.Sprintf("add %s to coveredResources of the ClusterQueues that are to lend these devices, "+
					"with a quota", m.Name)})
		}
	},
}

func coveredAnywhere(p *lint.Pass, name corev1.ResourceName) bool {
	for _, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
		if coveredBy(cq)[name] {
			return true
		}
	}
	return false
}

// asksAny tells that something in the input asks for a device of one of the classes: in a claim, or by an extended
// resource.
func asksAny(p *lint.Pass, classes []corev1.ResourceName) bool {
	for q := range p.DeviceRequests() {
		if slices.Contains(classes, corev1.ResourceName(q.Class)) {
			return true
		}
	}
	for t := range p.PodTemplates() {
		for c := range containers(t.Spec()) {
			for name := range c.of.Resources.Requests {
				if o := backedBy(p, name); o != nil && slices.Contains(classes, corev1.ResourceName(o.Ref.Name)) {
					return true
				}
			}
		}
	}
	return false
}
