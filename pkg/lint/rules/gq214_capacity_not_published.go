package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var capacityNotPublished = &lint.Rule{
	ID: "GQ214", Name: "capacity-not-published", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A capacity source names a dimension that no device of its driver has",
		Why: "A capacity source charges what a request takes of one capacity of the matching devices. When none has " +
			"it, Kueue refuses every workload that claims the class.",
		Bad: "sources:\n- capacity: {name: vram, driver: gpu.example.com}\n",
		Good: "sources:\n- capacity: {name: memory, driver: gpu.example.com}   # as in capacity of the " +
			"ResourceSlices\n",
		Since: "Kueue 0.19",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) { checkNames(p, true, true, charge.CodeNoCapacity) },
}
