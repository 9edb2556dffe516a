package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var nameForm = &lint.Rule{
	ID: "GQ202", Name: "counter-name-form", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A counter or capacity is named in another form than the devices use",
		Why: "Names are compared letter by letter. Drivers name counters in kebab case (copy-engines) and capacities " +
			"in camel case (copyEngines), and a capacity may be written with or without its domain: a source has to " +
			"write it as the ResourceSlices do, else Kueue refuses every workload that it is to charge.",
		Bad:   "sources:\n- counter: {name: copyEngines, driver: gpu.nvidia.com}\n",
		Good:  "sources:\n- counter: {name: copy-engines, driver: gpu.nvidia.com}\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		checkNames(p, false, false, charge.CodeNoCounter)
		checkNames(p, true, false, charge.CodeNoCapacity)
	},
}
