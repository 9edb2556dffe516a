package rules

import (
	"fmt"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var unknownDriver = &lint.Rule{
	ID: "GQ216", Name: "unknown-driver", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A driver is named that publishes nothing",
		Why: "A selector or a source that names a driver which publishes no devices matches nothing: claims are " +
			"refused for want of devices. Early drafts called NVIDIA's driver gpu.resource.nvidia.com; it is " +
			"gpu.nvidia.com.",
		Bad:   "cel: {expression: 'device.driver == \"gpu.resource.nvidia.com\"'}\n",
		Good:  "cel: {expression: 'device.driver == \"gpu.nvidia.com\"'}\n",
		Since: "every version",
		Links: []string{"https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"},
	},
	Check: func(p *lint.Pass) {
		for _, s := range p.Selectors() {
			for _, u := range p.Uses(s.Text) {
				name := u.Literal
				if u.Map != "driver" || u.Operator != "==" || u.Type != "string" {
					name = ""
					if _, known := formerDrivers[u.Domain]; known {
						name = u.Domain
					}
				}
				// that the source's driver publishes nothing is told at its name
				if name != "" && !(s.Of == lint.OfSource && name == s.Driver) {
					checkDriver(p, s.At, name, lint.Warning)
				}
			}
		}
		for _, s := range eachSource(p) {
			severity := lint.Warning
			if !asksAny(p, s.classes) {
				severity = lint.Info // nothing in the input would be charged by it
			}
			checkDriver(p, s.at(p, "driver"), s.driver, severity)
		}
		for o, slice := range cluster.All[*cluster.DeviceSlice](p.Snapshot, cluster.ResourceSlice) {
			if right, known := formerDrivers[slice.Spec.Driver]; known {
				at := lint.At(o, "spec.driver")
				p.Report(lint.Diagnostic{At: at, Message: fmt.Sprintf("no driver is called %s", slice.Spec.Driver),
					Help: fmt.Sprintf("the driver is %s; it publishes ResourceSlices itself, which are not written "+
						"by hand", right), Fix: p.Replace(at, right, "write "+right)})
			}
		}
	},
}

// formerDrivers are names that drivers had in drafts and examples, with the name they have.
var formerDrivers = map[string]string{
	"gpu.resource.nvidia.com": "gpu.nvidia.com",
	"gpu.resource.intel.com":  "gpu.intel.com",
}

// rightDriver is the name a driver has.
func rightDriver(p *lint.Pass, name string) string {
	if right, former := formerDrivers[name]; former {
		return right
	}
	return name
}

func checkDriver(p *lint.Pass, at lint.Place, name string, severity lint.Severity) {
	right, former := formerDrivers[name]
	switch {
	case name == "":
		return
	case former:
	case !p.Need(cluster.ResourceSlice):
		return
	case slices.Contains(published(p), name):
		return
	default:
		right = closest(name, published(p))
	}
	d := lint.Diagnostic{At: at, Severity: severity, Message: fmt.Sprintf("driver %s publishes no devices", name)}
	switch {
	case former:
		d.Severity, d.Message = lint.Error, fmt.Sprintf("no driver is called %s", name)
		d.Help, d.Fix = "the driver is "+right, p.ReplacePart(at, name, right, "write "+right)
	case right != "":
		d.Help = "did you mean " + right + "?"
	default:
		d.Help = "check that the driver runs, and that the input holds its ResourceSlices"
	}
	p.Report(d)
}
