package report

import (
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
)

func newExplanation(x *explain.Explanation, units Units) Explanation {
	out := Explanation{
		Charge:    newCharge(x.Charge, units),
		Reported:  newReported(x.Reported),
		Predicted: newPredicted(x.Predicted),
		Steps:     make([]Step, 0, len(x.Steps)), Binding: make([]Constraint, 0, len(x.Binding)), Quota: make([]QuotaLine, 0, len(x.Quota)),
		Holders: []Holder{}, PreemptedBy: []Evidence{}, Remedies: []Remedy{}, Inconsistencies: x.Inconsistencies,
	}
	out.Workload, out.Owner = out.Charge.Workload, out.Charge.Owner
	out.LocalQueue, out.ClusterQueue = out.Charge.LocalQueue, out.Charge.ClusterQueue
	for _, s := range x.Steps {
		out.Steps = append(out.Steps, Step{Check: s.Check, Result: string(s.Result), Detail: s.Detail, Evidence: evidence(s.Evidence)})
	}
	for _, l := range x.Quota {
		out.Quota = append(out.Quota, newQuotaLine(l, units))
	}
	podSet := ""
	if len(x.Charge.PodSets) == 1 {
		podSet = x.Charge.PodSets[0].Name
	}
	for _, l := range x.Binding {
		q := newQuotaLine(l, units)
		out.Binding = append(out.Binding, Constraint{
			PodSet: podSet, Resource: q.Resource, Flavor: q.Flavor, Requested: q.Requested, Used: q.Used,
			// Without a cohort the nominal quota is all the queue can ever give.
			Available: q.Free, Short: q.Short, Nominal: q.Nominal, Maximum: q.Nominal,
		})
	}
	return out
}

func newReported(r explain.Reported) Reported {
	out := Reported{State: string(r.State), Reason: r.Reason, Message: r.Message, ObservedGenerationStale: r.Stale, Meaning: r.Meaning}
	if !r.Since.IsZero() {
		out.Since = r.Since.UTC().Format(time.RFC3339)
	}
	return out
}

func newPredicted(p explain.Predicted) Predicted {
	return Predicted{
		State: string(p.State), Reason: p.Reason,
		PossibleMessages: []string{}, PodSets: []PodSetFlavors{}, Preempts: []Preemption{},
	}
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
	if l.BorrowingLimit != nil {
		out.BorrowingLimit = units.Format(l.Resource, *l.BorrowingLimit)
	}
	if l.LendingLimit != nil {
		out.LendingLimit = units.Format(l.Resource, *l.LendingLimit)
	}
	return out
}
