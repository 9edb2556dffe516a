package rules

import (
	"errors"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var selectorFails = &lint.Rule{
	ID: "GQ205", Name: "selector-fails", Severity: lint.Error,
	Needs: kinds(cluster.ResourceSlice, cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A CEL selector can't be evaluated on the published devices",
		Why: "A selector that reads what a device does not have ends with an error, which is not the same as \"no " +
			"match\": Kueue refuses the workload, and the scheduler gives up on the pod for every node. Before 0.20 " +
			"Kueue evaluates no selector on a device that has a list for an attribute, of whatever driver the device " +
			"is.",
		Bad:   "cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].profil == \"1g.5gb\"'}\n",
		Good:  "cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].profile == \"1g.5gb\"'}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeSelectorFails, charge.CodeTooFewDevices) {
			text := partsOf(r, func(part string) bool { return strings.Contains(part, "CEL evaluation failed") })
			if text != "" || r.Problem.Code == charge.CodeSelectorFails {
				p.ReportRefusal(r, text, "")
			}
		}
		for _, r := range p.Chances() {
			if !strings.Contains(r.Problem.Message, "match the selectors") {
				continue
			}
			p.ReportRefusalAs(lint.Warning, r, "", "guard what not every device has with has(…), so that the "+
				"selector ends with an error on none")
		}
		for q := range p.DeviceRequests() {
			if match := matching(p, q); match != nil {
				if matched, failing := match.Counts(); failing > 0 && (matched == 0 || certain(p, q) == lint.Error) {
					reportFailing(p, q, match, certain(p, q), "")
				}
			}
		}
		for _, s := range eachSource(p) {
			checkSourceFails(p, s)
		}
	},
}

// reportFailing reports where a request's selectors, or those of its class, end with an error.
func reportFailing(p *lint.Pass, q lint.DeviceRequest, match *device.Match, severity lint.Severity,
	consequence string) {
	f, ok := match.FirstFailure()
	if !ok {
		return
	}
	_, failing := match.Counts()
	class, record, _ := cluster.Lookup[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass, "", q.Class)
	at := q.At(fmt.Sprintf("selectors[%d].cel.expression", failingIndex(q.Selectors, f.Err)))
	if f.Row == 0 {
		at = lint.At(record,
			fmt.Sprintf("spec.selectors[%d].cel.expression", failingIndex(class.Spec.Selectors, f.Err)))
	}
	p.Report(lint.Diagnostic{At: at, Severity: severity,
		Message: fmt.Sprintf("the selector can't be evaluated on %s%s: %v", devicesIn(f, failing), consequence, f.Err),
		Help:    guardHelp(f.Err), Related: []lint.Place{deviceAt(f)}})
}

// failingIndex finds the selector that names the missing key.
func failingIndex(selectors []resourcev1.DeviceSelector, err error) int {
	key := missingKey(err)
	for i, s := range selectors {
		if s.CEL != nil && key != "" && strings.Contains(s.CEL.Expression, key) {
			return i
		}
	}
	return 0
}

func missingKey(err error) string {
	_, key, ok := strings.Cut(err.Error(), "no such key: ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(key)
}

func guardHelp(err error) string {
	var list *selector.ListError
	if errors.As(err, &list) {
		return fmt.Sprintf("no selector works on a device while its attribute %s is a list: have the driver not "+
			"publish it, "+
			"or take a release of Kueue that is built with Kubernetes 1.37 (0.20)", list.Attribute)
	}
	if key := missingKey(err); key != "" {
		return fmt.Sprintf("guard it with has(…) && …, or read it as .?%s.orValue(…); check the name against the "+
			"ResourceSlices", key)
	}
	return "check the types: attributes are strings, numbers, booleans or versions, capacities are quantities"
}

func devicesIn(f device.Failure, failing int64) string {
	if failing == 1 {
		return "device " + f.Device
	}
	return fmt.Sprintf("%d devices, %s for one", failing, f.Device)
}

func deviceAt(f device.Failure) lint.Place {
	for i := range f.Slice.Object.Spec.Devices {
		if f.Slice.Object.Spec.Devices[i].Name == f.Device {
			return lint.At(f.Slice.Record, fmt.Sprintf("spec.devices[%d].name", i)).Saying("it fails here")
		}
	}
	return lint.At(f.Slice.Record, "spec.devices")
}

func checkSourceFails(p *lint.Pass, s configuredSource) {
	row, ok := s.row(p)
	if !ok || row == nil || !p.Need(cluster.ResourceSlice) {
		return
	}
	for _, f := range p.Inventory().Match(row).Failures(s.driver) {
		p.Report(lint.Diagnostic{At: s.at(p, "deviceSelector.cel.expression"), Severity: lint.Warning,
			Message: fmt.Sprintf("the selector can't be evaluated on device %s of %s: %v: Kueue refuses workloads "+
				"that it is to charge", f.Device, s.driver, f.Err),
			Help: guardHelp(f.Err), Related: []lint.Place{deviceAt(f)}})
		return
	}
}
