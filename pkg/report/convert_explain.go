package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// converter turns explanations into their machine form. Workloads that wait for the same quota share their lists of
// holders, and so do the results.
type converter struct {
	units   Units
	holders map[*admission.Holder][]Holder // by the first of the list
}

func newConverter(units Units) *converter {
	return &converter{units: units, holders: map[*admission.Holder][]Holder{}}
}

func (c *converter) holdersOf(in []admission.Holder) []Holder {
	if len(in) == 0 {
		return []Holder{}
	}
	out, known := c.holders[&in[0]]
	if !known || len(out) != len(in) {
		out = make([]Holder, 0, len(in))
		for _, h := range in {
			out = append(out, newHolder(h, c.units))
		}
		c.holders[&in[0]] = out
	}
	return out
}

func (c *converter) explanation(x *explain.Explanation) Explanation {
	units := c.units
	out := Explanation{
		Charge:    newCharge(x.Charge, units),
		Reported:  newReported(x.Reported),
		Predicted: newPredicted(x.Predicted, units),
		Agrees:    x.Agrees,
		Steps:     make([]Step, 0, len(x.Steps)), Binding: make([]Constraint, 0,
			len(x.Binding)), Quota: make([]QuotaLine, 0, len(x.Quota)),
		Holders: c.holdersOf(x.Holders), PreemptedBy: []PreemptedBy{}, Remedies: []Remedy{}, RemediesUntried: x.Untried,
		Inconsistencies: x.Inconsistencies,
	}
	out.Workload, out.Owner = out.Charge.Workload, out.Charge.Owner
	out.LocalQueue, out.ClusterQueue = out.Charge.LocalQueue, out.Charge.ClusterQueue
	if p := x.Position; p != nil && p.Certain {
		out.QueuePosition = &QueuePosition{p.ClusterQueue, p.LocalQueue}
	}
	for _, s := range x.Steps {
		out.Steps = append(out.Steps,
			Step{Check: s.Check, Result: string(s.Result), Detail: s.Detail, Evidence: evidence(s.Evidence)})
	}
	for _, l := range x.Quota {
		out.Quota = append(out.Quota, newQuotaLine(l, units))
	}
	for _, b := range x.Binding {
		out.Binding = append(out.Binding, newConstraint(b, units))
	}
	for _, p := range x.PreemptedBy {
		by := PreemptedBy{Reason: p.Reason, UID: p.UID, Note: p.Note, Evidence: evidence([]charge.Evidence{p.Evidence})}
		if !p.By.IsZero() {
			by.Workload = &p.By
		}
		out.PreemptedBy = append(out.PreemptedBy, by)
	}
	if x.Fit != nil {
		out.Fit = newFit(x.Fit)
	}
	for _, r := range x.Remedies {
		out.Remedies = append(out.Remedies, Remedy{r.Action, r.Effect, r.Patch})
	}
	return out
}

func newConstraint(b explain.Constraint, units Units) Constraint {
	format := func(v quota.Amount) string { return units.quota(b.Resource, v) }
	return Constraint{
		PodSet: b.PodSet, Resource: string(b.Resource), Flavor: b.Flavor, Requested: format(b.Before.Add(b.Requested)),
		Used:      format(b.Used),
		Available: format(b.Available), Short: format(b.Short), Nominal: format(b.Nominal), Maximum: format(b.Maximum),
	}
}

func newHolder(h admission.Holder, units Units) Holder {
	out := Holder{
		Workload: h.Charge.Workload.Ref(), ClusterQueue: h.ClusterQueue, Resource: string(h.FlavorResource.Resource),
		Flavor: h.FlavorResource.Flavor,
		Quantity: units.quota(h.FlavorResource.Resource,
			h.Quantity), Priority: int32(h.Priority), Preemptible: h.Preemptible, WhyNot: h.WhyNot,
	}
	if !h.Since.IsZero() {
		out.Since = h.Since.UTC().Format(time.RFC3339)
	}
	return out
}

func newReported(r explain.Reported) Reported {
	out := Reported{State: string(r.State), Reason: r.Reason, Message: r.Message, ObservedGenerationStale: r.Stale,
		Meaning: r.Meaning}
	if !r.Since.IsZero() {
		out.Since = r.Since.UTC().Format(time.RFC3339)
	}
	return out
}

func newPredicted(d *admission.Decision, units Units) Predicted {
	out := Predicted{
		State: string(d.State), Reason: d.Reason, Message: d.Message, PossibleMessages: list(d.Possible),
		Borrows: d.Borrows,
		PodSets: []PodSetFlavors{}, Preempts: []Preemption{}, Why: d.Why, Missing: d.Missing,
	}
	for _, ps := range d.PodSets {
		set := PodSetFlavors{Name: ps.Name, Count: int64(ps.Count), Flavors: map[string]string{},
			Usage: map[string]string{}}
		for name, f := range ps.Flavors {
			set.Flavors[string(name)] = f
		}
		for name, v := range ps.Usage {
			set.Usage[string(name)] = units.Format(name, v)
		}
		out.PodSets = append(out.PodSets, set)
	}
	for _, t := range d.Targets {
		out.Preempts = append(out.Preempts, Preemption{t.Charge.Workload.Ref(), t.Reason})
	}
	for _, at := range d.Attempts {
		out.Attempts = append(out.Attempts, FlavorAttempt{
			PodSet: at.PodSet, Flavor: at.Flavor, Mode: at.Mode.String(), Borrows: at.Borrow > 0, Chosen: at.Chosen,
			Reasons: list(at.Reasons),
		})
	}
	return out
}

// quota prints an amount of quota, which may have no limit.
func (u Units) quota(name corev1.ResourceName, v quota.Amount) string {
	if v == quota.Unlimited {
		return "unlimited"
	}
	return u.Format(name, int64(v))
}

func newQuotaLine(l explain.QuotaLine, units Units) QuotaLine {
	covered := l.Flavor != ""
	out := QuotaLine{
		Resource: string(l.Resource), Flavor: l.Flavor, Requested: units.Format(l.Resource, l.Requested),
		Nominal: units.amount(l.Resource, l.Nominal, covered),
		Used:    units.amount(l.Resource, l.Used, l.UsedKnown), Free: units.amount(l.Resource, l.Free, l.UsedKnown),
		// Without usage a shortage of the whole nominal quota is certain, a sufficient one is not.
		Short: units.amount(l.Resource, l.Short, covered && (l.UsedKnown || l.Short > 0)),
	}
	if l.Live {
		out.Available, out.Maximum = units.quota(l.Resource, l.Available), units.quota(l.Resource, l.Maximum)
	}
	if l.BorrowingLimit != nil {
		out.BorrowingLimit = units.Format(l.Resource, *l.BorrowingLimit)
	}
	if l.LendingLimit != nil {
		out.LendingLimit = units.Format(l.Resource, *l.LendingLimit)
	}
	return out
}
