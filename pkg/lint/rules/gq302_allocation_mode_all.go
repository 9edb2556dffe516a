package rules

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var allocationModeAll = &lint.Rule{
	ID: "GQ302", Name: "allocation-mode-all", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A device request asks for all devices",
		Why: "How many devices \"All\" means depends on the node, which is chosen long after quota is reserved. " +
			"Kueue can't charge it and refuses the whole workload.",
		Bad:   "exactly:\n  deviceClassName: gpu.nvidia.com\n  allocationMode: All\n",
		Good:  "exactly:\n  deviceClassName: gpu.nvidia.com\n  count: 8\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		const help = "ask for a number of devices: count, without allocationMode"
		for _, r := range p.Refusals(charge.CodeAllocationMode) {
			p.ReportRefusal(r, "", help)
		}
		reportRequests(p, "allocationMode", func(q lint.DeviceRequest) string {
			if q.Alternative || q.AdminAccess || q.Mode != resourcev1.DeviceAllocationModeAll {
				return ""
			}
			return "allocationMode All has no charge that can be told beforehand: Kueue refuses every workload that " +
				"claims it"
		}, help)
	},
}

// reportRequests reports the requests of claim templates for which say has a message, at one of their fields: as an
// error where a workload is refused for it, as a warning where no workload uses the template yet.
func reportRequests(p *lint.Pass, field string, say func(lint.DeviceRequest) string, help string) {
	used := usedTemplates(p)
	for q := range p.DeviceRequests() {
		if !q.OfTemplate() || !p.Config.DRA() {
			continue
		}
		message := say(q)
		if message == "" {
			continue
		}
		at := q.At(field)
		switch {
		case p.Refused(at), p.Refused(q.At("")):
			p.Report(lint.Diagnostic{At: at, Message: message, Help: help})
		case !used[q.Object]:
			p.Report(lint.Diagnostic{At: at, Severity: lint.Warning, Message: message, Help: help})
		}
	}
}
