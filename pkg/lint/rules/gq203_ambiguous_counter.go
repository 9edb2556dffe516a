package rules

import (
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var ambiguousCounter = &lint.Rule{
	ID: "GQ203", Name: "ambiguous-counter-charge", Severity: lint.Warning,
	Needs: kinds(cluster.ResourceSlice, cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A request may be given devices of different sizes, and is charged for the largest",
		Why: "A counter charge is made before a device is chosen: Kueue takes the largest value among all devices " +
			"that match. A selector that admits partitions of several sizes charges every workload as if it got the " +
			"largest, so that quota runs out while small partitions are free.",
		Bad: "exactly: {deviceClassName: mig.nvidia.com}   # 1g.5gb and 3g.20gb match\n",
		Good: "exactly:\n  deviceClassName: mig.nvidia.com\n  selectors:\n  - cel: {expression: " +
			"'device.attributes[\"gpu.nvidia.com\"].profile == \"1g.5gb\"'}\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		if !p.Config.DRA() || !p.Config.Enabled(release.KueueDRAIntegrationPartitionableDevices) {
			return
		}
		for q := range p.DeviceRequests() {
			if q.Alternative || q.AdminAccess || !q.OfTemplate() {
				continue
			}
			for _, s := range p.Config.Counters(q.Class) {
				checkSpread(p, q, s)
			}
		}
	},
}

func checkSpread(p *lint.Pass, q lint.DeviceRequest, s config.Source) {
	if matching(p, q) == nil {
		return
	}
	class, _, _ := cluster.Lookup[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass, "", q.Class)
	first, ok1 := p.Inventory().Row(class.Spec.Selectors)
	second, ok2 := p.Inventory().Row(q.Selectors)
	source := p.Inventory().Compile(s.Selector)
	if !ok1 || !ok2 || source.CompileError != "" {
		return
	}
	match := p.Inventory().Match([]*device.Expression{source}, first, second)
	largest := match.MaxCounter(s.Driver, s.Name, p.Config.Behavior.CounterMaxOverAllSets)
	if len(largest.Distinct) < 2 || len(match.Failures(s.Driver)) > 0 {
		return
	}
	related := []lint.Place{p.Configured(s.Path + ".name").Saying("charged as " + string(s.Resource))}
	if x, ok := match.Example(largest); ok {
		related = append(related,
			lint.At(x.Slice.Record, fmt.Sprintf("spec.devices[%d].name", x.Device)).Saying(largest.Value.String()))
	}
	p.Report(lint.Diagnostic{At: selectorAt(q), Related: related, Help: narrow(match, s, p.Config.Behavior),
		Message: fmt.Sprintf("request %s may be given devices with %s from %s to %s, and is charged %s for each",
			q.Name, s.Name,
			largest.Distinct[0].String(), largest.Value.String(), largest.Value.String())})
}

// narrow suggests a selector that leaves devices of one size.
func narrow(match *device.Match, s config.Source, b release.Behavior) string {
	sizes, ok := match.Sizes(s.Driver, s.Name, b.CounterMaxOverAllSets)
	if !ok {
		return "narrow the selector until all matching devices are of one size"
	}
	return fmt.Sprintf("say which size it needs, for example %s", sizes.Selector(slices.Sorted(maps.Keys(sizes.Of))[0]))
}
