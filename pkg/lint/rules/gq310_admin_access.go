package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// adminLabel marks the namespaces in which claims may ask for admin access.
const adminLabel = "resource.kubernetes.io/admin-access"

var adminAccess = &lint.Rule{
	ID: "GQ310", Name: "admin-access", Severity: lint.Error,
	Needs: kinds(cluster.Namespace),
	Doc: lint.Doc{
		Title: "A device request asks for admin access",
		Why: "A request with adminAccess shares devices that others hold. Releases of Kueue after v0.19.2 charge " +
			"nothing for it, earlier ones refuse the workload. The API server takes such claims only in namespaces " +
			"that carry the label resource.kubernetes.io/admin-access.",
		Bad: "kind: Namespace\nmetadata: {name: monitoring}\n---\nexactly: {deviceClassName: gpu.nvidia.com, " +
			"adminAccess: true}\n",
		Good: "kind: Namespace\nmetadata:\n  name: monitoring\n  labels: {resource.kubernetes.io/admin-access: " +
			"\"true\"}\n",
		Since: "Kueue 0.17",
		Links: []string{linkDRA, linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Refusals(charge.CodeAdminAccess) {
			p.ReportRefusal(r, fmt.Sprintf("Kueue %s refuses admin access, which its claim asks for", p.Config.Version),
				"run such pods outside of Kueue, or take a release that charges nothing for admin access")
		}
		for q := range p.DeviceRequests() {
			if q.AdminAccess {
				checkAdminAccess(p, q)
			}
		}
	},
}

func checkAdminAccess(p *lint.Pass, q lint.DeviceRequest) {
	at := q.At("adminAccess")
	ns := p.Snapshot.Get(cluster.Namespace, "", q.Object.Ref.Namespace)
	switch {
	case ns == nil:
		p.Need(cluster.Namespace)
	case ns.Meta.Labels[adminLabel] != "true":
		p.Report(lint.Diagnostic{At: at, Message: fmt.Sprintf("namespace %s does not allow admin access: the API "+
			"server refuses this object", ns.Ref.Name),
			Help:    fmt.Sprintf("label the namespace: %s: \"true\"", adminLabel),
			Related: []lint.Place{lint.At(ns, "metadata").Name().Saying("without the label")}})
	}
	if p.Config.Behavior.AdminAccessExempt && q.OfTemplate() {
		p.Report(lint.Diagnostic{At: at, Severity: lint.Info, Message: "a request with admin access costs no quota, " +
			"and needs no mapping"})
	}
}
