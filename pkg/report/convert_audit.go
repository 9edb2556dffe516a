package report

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

func newAuditHead(r *audit.Report, findings *Findings, u Units) AuditHead {
	head := AuditHead{
		TypeMeta: TypeMeta{APIVersion, "AuditReport"}, Kueue: kueueOf(r.Config), UsageSource: string(r.Usage),
		Totals: []AuditTotal{}, Ledger: []LedgerRow{}, Devices: []AuditDevices{}, Differences: []ChargeDifference{},
		Uncounted: []UncountedDevices{},
		Issues:    []AuditIssue{}, Holders: []AuditHolder{}, Pending: []AuditPending{}, Unknown: []UnknownColumn{},
		UnknownRules: []UnknownRule{},
	}
	for _, t := range r.Totals {
		head.Totals = append(head.Totals, newAuditTotal(t, u))
	}
	for i := range r.Ledger {
		head.Ledger = append(head.Ledger, newLedgerRow(&r.Ledger[i], u))
	}
	for _, d := range r.Devices {
		head.Devices = append(head.Devices, newAuditDevices(d))
	}
	for _, d := range r.Differences {
		head.Differences = append(head.Differences, newChargeDifference(d, u))
	}
	for _, x := range r.Uncounted {
		via := "DevicePlugin"
		if x.Claim {
			via = "ResourceClaim"
		}
		head.Uncounted = append(head.Uncounted,
			UncountedDevices{Object: x.Object, Via: via, Class: x.Class, Resource: string(x.Resource),
				Devices: x.Devices, Why: x.Why})
	}
	for _, i := range r.Issues {
		head.Issues = append(head.Issues, newAuditIssue(i))
	}
	for _, h := range r.Holders {
		head.Holders = append(head.Holders, newAuditHolder(h, u))
	}
	for _, p := range r.Pending {
		head.Pending = append(head.Pending, newAuditPending(p))
	}
	for _, x := range r.Unknown {
		head.Unknown = append(head.Unknown,
			UnknownColumn{Column: string(x.Column), In: x.In, Missing: list(x.Missing), Get: getCommand(x.Missing),
				Why: x.Why})
	}
	found := findings.Head().(findingHead)
	head.UnknownRules = found.Unknown
	head.Summary = summarize(r, found.Summary)
	return head
}

func summarize(r *audit.Report, findings FindingSummary) AuditSummary {
	s := AuditSummary{Uncounted: len(r.Uncounted), Issues: len(r.Issues), Findings: findings}
	seen := map[*charge.Charge]bool{}
	for _, d := range r.Differences {
		if !seen[d.Charge] {
			seen[d.Charge] = true
			s.Differences++
		}
	}
	if c := r.Counts; r.Counted {
		s.Admitted, s.Reserving, s.Pending, s.Inadmissible = &c.Admitted, &c.Reserved, &c.Waiting, &c.Refused
	}
	return s
}

// cell prints an amount that may be unknown.
func (u Units) cell(name corev1.ResourceName, c audit.Cell) *string {
	if !c.Known {
		return nil
	}
	text := u.amountOf(name, c.Amount)
	return &text
}

func newAuditTotal(t audit.Total, u Units) AuditTotal {
	return AuditTotal{
		Flavor: t.Flavor, Resource: string(t.Resource), Published: u.cell(t.Resource,
			t.Published), Healthy: u.cell(t.Resource, t.Healthy),
		AtMost: t.AtMost, Counted: t.Counted, Allocatable: u.cell(t.Resource,
			t.Allocatable), Nominal: u.amountOf(t.Resource, t.Nominal),
		Sums: u.sums(t.Resource, t.Reserved, t.Recomputed, t.Difference, t.Allocated, t.Pending),
	}
}

func (u Units) sums(name corev1.ResourceName, reserved, recomputed, difference, allocated, pending audit.Cell) Sums {
	return Sums{
		Reserved: u.cell(name, reserved), Recomputed: u.cell(name, recomputed), Difference: u.cell(name, difference),
		Allocated: u.cell(name, allocated), Pending: u.cell(name, pending),
	}
}

func newLedgerRow(r *audit.Row, u Units) LedgerRow {
	kind := cluster.Cohort.Kind
	if r.Node.Queue {
		kind = cluster.ClusterQueue.Kind
	}
	out := LedgerRow{
		Kind: kind, Name: r.Node.Name, Cohort: parentName(r.Node), Flavor: r.Flavor, Resource: string(r.Resource),
		Total:    u.amountOf(r.Resource, r.Total),
		Sums:     u.sums(r.Resource, r.Reserved, r.Recomputed, r.Difference, r.Allocated, r.Pending),
		Admitted: u.cell(r.Resource, r.Admitted), Borrowed: u.cell(r.Resource, r.Borrowed), Lent: u.cell(r.Resource,
			r.Lent), LentAtMost: u.cell(r.Resource, r.LentAtMost),
		row: r,
	}
	if r.Sets {
		out.Nominal = u.amountOf(r.Resource, r.Nominal)
	}
	return out
}

func newAuditDevices(d audit.Devices) AuditDevices {
	out := AuditDevices{
		Driver: d.Driver, Resource: string(d.Resource), Model: d.Model, Type: d.Type, Profile: d.Profile,
		Published: d.Published, Healthy: d.Healthy,
		Tainted: d.Tainted, Incomplete: d.Incomplete, Allocated: Units{}.cell("", d.Allocated), Free: Units{}.cell("",
			d.Free), Classes: list(d.Classes), ChargedTo: []string{},
	}
	for _, name := range d.Charged {
		out.ChargedTo = append(out.ChargedTo, string(name))
	}
	return out
}

func newChargeDifference(d audit.Difference, u Units) ChargeDifference {
	out := ChargeDifference{
		ClusterQueue: d.ClusterQueue, Flavor: d.Flavor, Resource: string(d.Resource), Reserved: u.amountOf(d.Resource,
			d.Reserved),
		Recomputed: u.amountOf(d.Resource, d.Recomputed), Difference: u.amountOf(d.Resource,
			d.Reserved.Sub(d.Recomputed)),
		Reason: string(d.Reason), Message: d.Text, charge: d.Charge,
	}
	out.Workload, out.Owner = refs(d.Charge.Workload)
	return out
}

func newAuditIssue(i audit.Issue) AuditIssue {
	out := AuditIssue{Kind: string(i.Kind), Severity: string(i.Severity), Flavor: i.Flavor,
		Resource: string(i.Resource), Message: i.Text}
	if !i.Object.IsZero() {
		out.Object = &i.Object
	}
	return out
}

func newAuditHolder(h audit.Holder, u Units) AuditHolder {
	out := AuditHolder{ClusterQueue: h.ClusterQueue, Flavor: h.Flavor, Resource: string(h.Resource),
		Amount:   u.amountOf(h.Resource, h.Amount),
		Priority: h.Priority, Since: timeText(h.Since), charge: h.Charge}
	out.Workload, out.Owner = refs(h.Charge.Workload)
	return out
}

func newAuditPending(p audit.Pending) AuditPending {
	out := AuditPending{ClusterQueue: p.ClusterQueue, Created: timeText(p.Created), Position: p.Position,
		Predicted: string(p.State), Why: p.Why, charge: p.Charge}
	out.Workload, out.Owner = refs(p.Charge.Workload)
	return out
}

// getCommand gets kinds that are missing; empty when none of them can be listed.
func getCommand(missing []string) string {
	resources := cluster.ListNames(missing)
	if len(resources) == 0 {
		return ""
	}
	return "kubectl get -A -o yaml " + strings.Join(resources, ",")
}

// amountOf prints an amount of quota as machine output has it: without word for what is unlimited.
func (u Units) amountOf(name corev1.ResourceName, v quota.Amount) string {
	return u.Format(name, int64(v))
}
