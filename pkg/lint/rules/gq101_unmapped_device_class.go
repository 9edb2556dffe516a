package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var unmappedDeviceClass = &lint.Rule{
	ID: "GQ101", Name: "unmapped-device-class", Severity: lint.Error,
	Needs: kinds(cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "A claim asks for a device class that no mapping names",
		Why: "Kueue charges the devices of a claim to the quota resource its class is mapped to. For a class without " +
			"mapping there is none, and Kueue refuses the whole workload until the mapping is added and the manager " +
			"restarted.",
		Bad: "# Kueue's Configuration\nresources:\n  deviceClassMappings:\n  - name: whole-gpus\n    " +
			"deviceClassNames: [gpu.nvidia.com]\n" +
			"---\n# ResourceClaimTemplate\nexactly: {deviceClassName: mig.nvidia.com}\n",
		Good: "resources:\n  deviceClassMappings:\n  - name: whole-gpus\n    deviceClassNames: [gpu.nvidia.com]\n" +
			"  - name: partitions\n    deviceClassNames: [mig.nvidia.com]\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA},
	},
	Check: checkUnmapped,
}

func checkUnmapped(p *lint.Pass) {
	for _, r := range p.Refusals(charge.CodeUnmappedClass) {
		p.ReportRefusal(r, "", "")
	}
	charged := usedTemplates(p)
	for q := range p.DeviceRequests() {
		if q.Class == "" || q.Object.Ref.GroupKind() != cluster.ResourceClaimTemplate || q.Alternative ||
			q.AdminAccess || !p.Config.DRA() {
			continue
		}
		if !p.Need(cluster.KueueConfiguration) {
			return
		}
		if _, mapped := p.Config.Lookup(q.Class); mapped {
			continue
		}
		at := q.At("deviceClassName")
		switch {
		case p.Refused(at):
			p.Report(lint.Diagnostic{At: at, Message: unmapped(q.Class), Help: mapIt(q.Class), Related: mappings(p)})
		case !charged[q.Object]:
			p.Report(lint.Diagnostic{At: at, Severity: lint.Warning, Message: unmapped(q.Class), Help: mapIt(q.Class),
				Related: mappings(p)})
		}
	}
}

func unmapped(class string) string {
	return fmt.Sprintf("DeviceClass %s is not mapped to a quota resource: Kueue refuses every workload that claims it",
		class)
}

func mapIt(class string) string {
	return fmt.Sprintf("add %s to deviceClassNames of a mapping in resources.deviceClassMappings, and restart the "+
		"manager: it reads the mappings at start", class)
}
