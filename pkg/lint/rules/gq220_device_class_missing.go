package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var deviceClassMissing = &lint.Rule{
	ID: "GQ220", Name: "device-class-missing", Severity: lint.Error,
	Needs: kinds(cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A device request names a DeviceClass that does not exist",
		Why: "Kueue reads the class of a request that it holds against the published devices, and refuses the " +
			"workload while there is none. A request it only counts is admitted, holds its quota, and its pods are " +
			"never scheduled.",
		Bad:   "exactly: {deviceClassName: gpu.nvidia.comm}\n",
		Good:  "exactly: {deviceClassName: gpu.nvidia.com}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeDeviceClassNotFound) {
			p.ReportRefusal(r, "", "")
		}
		for q := range p.DeviceRequests() {
			if q.Class == "" || p.Snapshot.Get(cluster.DeviceClass, "", q.Class) != nil ||
				!p.Need(cluster.DeviceClass) {
				continue
			}
			help := "create the class"
			if other := closest(q.Class, namesOf(p.Snapshot.List(cluster.DeviceClass))); other != "" {
				help = "did you mean " + other + "?"
			}
			p.Report(lint.Diagnostic{At: q.At("deviceClassName"), Severity: certain(p, q),
				Message: fmt.Sprintf("DeviceClass %s does not exist", q.Class), Help: help})
		}
	},
}

func namesOf(objects []*cluster.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Ref.Name)
	}
	return out
}
