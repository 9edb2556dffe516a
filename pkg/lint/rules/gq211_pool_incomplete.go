package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var poolIncomplete = &lint.Rule{
	ID: "GQ211", Name: "pool-incomplete", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A pool of devices is incomplete, or holds slices of an older generation",
		Why: "Counter and capacity charges count only the devices of pools all of whose slices are published, and so " +
			"does the scheduler. The devices of an incomplete pool are there and can't be used; workloads that need " +
			"them are refused.",
		Bad:   "pool: {name: node-1, generation: 2, resourceSliceCount: 2}   # one slice is published\n",
		Good:  "pool: {name: node-1, generation: 2, resourceSliceCount: 1}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		inv := p.Inventory()
		for _, driver := range slices.Sorted(maps.Keys(inv.Pools)) {
			for _, pool := range inv.Pools[driver] {
				if pool.Complete() || len(pool.Slices) == 0 {
					continue
				}
				p.Report(lint.Diagnostic{At: lint.At(pool.Slices[0].Record, "spec.pool.resourceSliceCount"),
					Message: fmt.Sprintf("pool %s of %s is incomplete: %d of %d slices of generation %d are "+
						"published, so its devices do not count", pool.Name, driver, len(pool.Slices), pool.Expected,
						pool.Generation),
					Help: "in an export, check that it holds all ResourceSlices; in a cluster, look at the driver on " +
						"that node"})
			}
		}
		for _, s := range inv.Slices {
			if s.Pool == nil {
				pool := s.Object.Spec.Pool
				p.Report(lint.Diagnostic{At: lint.At(s.Record, "spec.pool.generation"), Severity: lint.Info,
					Message: fmt.Sprintf("slice %s is of generation %d of pool %s, which a newer one replaces: its "+
						"devices do not count", s.Object.Name, pool.Generation, pool.Name)})
			}
		}
	},
}

var sliceWithoutDevices = &lint.Rule{
	ID: "GQ212", Name: "slice-without-devices", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A ResourceSlice has neither devices nor counters",
		Why: "A driver that finds no device on a node publishes an empty slice: the node counts as having none. A " +
			"GPU in MIG mode without partitions is the usual reason.",
		Bad:   "kind: ResourceSlice\nspec: {driver: gpu.nvidia.com, nodeName: node-1, devices: []}\n",
		Good:  "kind: ResourceSlice\nspec: {driver: gpu.nvidia.com, nodeName: node-1, devices: [{name: gpu-0}]}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, s := range p.Inventory().Slices {
			if len(s.Object.Spec.Devices) == 0 && len(s.Object.Spec.SharedCounters) == 0 {
				p.Report(lint.Diagnostic{At: lint.At(s.Record, "spec").Name(),
					Message: fmt.Sprintf("slice %s of %s has no devices", s.Object.Name, s.Object.Spec.Driver),
					Help:    "look at the driver on that node: a GPU in MIG mode without partitions is not published"})
			}
		}
	},
}
