package rules

import (
	"fmt"
	"regexp"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var noDeviceMatches = &lint.Rule{
	ID: "GQ209", Name: "no-device-matches", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice, cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A device request matches no published device",
		Why: "Kueue looks for devices that a request with selectors matches before it looks at quota, and refuses " +
			"the workload when there are none. A request without selectors is admitted, holds quota, and its pods " +
			"are never scheduled.",
		Bad: "cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].productName == \"H200\"'}   # the nodes " +
			"have H100\n",
		Good:  "cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].productName == \"NVIDIA H100 80GB HBM3\"'}\n",
		Since: "Kueue 0.18 (selectors); every version (scheduling)",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		reportTooFew(p, true)
		for q := range p.DeviceRequests() {
			match := matching(p, q)
			if match == nil {
				continue
			}
			matched, failing := match.Counts()
			if matched > 0 || failing > 0 {
				continue
			}
			p.Report(lint.Diagnostic{At: selectorAt(q), Severity: certain(p, q),
				Message: fmt.Sprintf("no published device matches request %s of class %s", q.Name,
					q.Class), Help: "compare the selectors of the request and of the class with the attributes in " +
					"the ResourceSlices"})
		}
	},
}

// reportTooFew reports the refusals for want of devices: where there are none at all, or where there are some.
func reportTooFew(p *lint.Pass, none bool) {
	for _, r := range p.Refusals(charge.CodeTooFewDevices, charge.CodeSelectorFails) {
		text := partsOf(r, func(part string) bool {
			return strings.Contains(part, countedDevices) && noDevices.MatchString(part) == none
		})
		if text != "" || !none && r.Problem.Code == charge.CodeTooFewDevices &&
			!strings.Contains(r.Problem.Message, countedDevices) {
			p.ReportRefusal(r, text, "")
		}
	}
}

// countedDevices is part of what is told of a request that too few devices match, and noDevices of one that none does.
const countedDevices = " device(s)"

var noDevices = regexp.MustCompile(`(?:^|\s)0 device\(s\)`)

// partsOf are the parts of a refusal that speak of one reason: Kueue refuses for several requests at once, each with
// its own.
func partsOf(r lint.Refusal, speaks func(part string) bool) string {
	var out []string
	for part := range strings.SplitSeq(r.Problem.Message, "; ") {
		if speaks(part) {
			out = append(out, part)
		}
	}
	return strings.Join(out, "; ")
}

var fewerDevices = &lint.Rule{
	ID: "GQ210", Name: "fewer-devices-than-requested", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice, cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A device request asks for more devices than match it",
		Why: "Kueue refuses a workload whose request asks for more devices than the whole cluster has of the kind. " +
			"Such a request can't be met however much quota is free.",
		Bad:   "exactly: {deviceClassName: gpu.nvidia.com, count: 16}   # the cluster has 8\n",
		Good:  "exactly: {deviceClassName: gpu.nvidia.com, count: 8}\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		reportTooFew(p, false)
		for q := range p.DeviceRequests() {
			if q.Mode != resourcev1.DeviceAllocationModeExactCount {
				continue
			}
			match := matching(p, q)
			if match == nil {
				continue
			}
			matched, failing := match.Counts()
			if matched == 0 || failing > 0 || matched >= q.Count {
				continue
			}
			p.Report(lint.Diagnostic{At: q.At("count"), Severity: certain(p, q),
				Message: fmt.Sprintf("request %s asks for %d devices, and the cluster has %d that match", q.Name,
					q.Count, matched), Help: "ask for fewer in one pod, or widen the selectors"})
		}
	},
}
