package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var notShareable = &lint.Rule{
	ID: "GQ215", Name: "capacity-of-exclusive-devices", Severity: lint.Warning,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A capacity source matches devices that are not shared",
		Why: "A device without allowMultipleAllocations is given whole, whatever a request asks of its capacity. " +
			"Charging the requested part lets quota admit several workloads for one device, of which only one gets " +
			"it.",
		Bad: "sources:\n- capacity: {name: memory, driver: gpu.example.com}   # its devices do not allow multiple " +
			"allocations\n",
		Good:  "devices:\n- name: gpu-0\n  allowMultipleAllocations: true\n",
		Since: "Kueue 0.19",
		Links: []string{linkDRA, linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, s := range eachSource(p) {
			row, ok := s.row(p)
			if !s.capacity || !ok || !p.Need(cluster.ResourceSlice) {
				continue
			}
			exclusive, example := 0, lint.Place{}
			for slice, d := range p.Inventory().Match(row).Devices() {
				if slice.Object.Spec.Driver != s.driver || d.Shareable() {
					continue
				}
				if exclusive++; exclusive == 1 {
					example = lint.At(slice.Record,
						fmt.Sprintf("spec.devices[%d].name", indexOf(slice, d.Name))).Saying("given whole")
				}
			}
			if exclusive > 0 {
				p.Report(lint.Diagnostic{At: s.at(p, "name"), Related: []lint.Place{example},
					Message: fmt.Sprintf("%s that this source charges by the requested part of %s are given whole: "+
						"they do not allow multiple allocations", plural(exclusive, "device"), s.name),
					Help: "narrow deviceSelector to device.allowMultipleAllocations == true, or charge these devices " +
						"by number"})
			}
		}
	},
}
