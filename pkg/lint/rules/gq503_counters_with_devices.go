package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var countersWithDevices = &lint.Rule{
	ID: "GQ503", Name: "counters-with-devices", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A ResourceSlice holds both shared counters and devices",
		Why: "From Kubernetes 1.35 on a slice holds either sharedCounters or devices; the counters of a pool stand " +
			"in a slice of their own. The API server refuses a slice with both, and the scheduler ignores the " +
			"devices of one that is stored already.",
		Bad: "kind: ResourceSlice\nspec:\n  sharedCounters: [{name: gpu-0}]\n  devices: [{name: gpu-0}]\n",
		Good: "kind: ResourceSlice\nspec:\n  pool: {name: node-1, resourceSliceCount: 2}\n  sharedCounters: [{name: " +
			"gpu-0}]\n---\nkind: ResourceSlice\nspec:\n  pool: {name: node-1, resourceSliceCount: 2}\n  devices: " +
			"[{name: gpu-0}]\n",
		Since: "Kubernetes 1.35",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		if p.Kubernetes.Known() && !p.Kubernetes.AtLeast(lint.KubernetesVersion{Major: 1, Minor: 35}) {
			return
		}
		for o, s := range cluster.All[*cluster.DeviceSlice](p.Snapshot, cluster.ResourceSlice) {
			if len(s.Spec.SharedCounters) == 0 || len(s.Spec.Devices) == 0 {
				continue
			}
			severity := lint.Warning
			if p.Kubernetes.Known() {
				severity = lint.Error
			}
			p.Report(lint.Diagnostic{At: lint.At(o, "spec.sharedCounters").Name(), Severity: severity,
				Related: []lint.Place{lint.At(o, "spec.devices").Name()},
				Message: fmt.Sprintf("slice %s holds shared counters and devices, of which Kubernetes 1.35 and later "+
					"take one", s.Name),
				Help: "put the counters into a slice of their own in the same pool, and raise resourceSliceCount"})
		}
	},
}
