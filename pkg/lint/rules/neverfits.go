package rules

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// blockedSet is a pod set that no flavor of its queue can ever take, with the attempts that show it.
type blockedSet struct {
	charge *charge.Charge
	podSet string
	queue  *cluster.Object
	tried  []admission.Attempt
	// severity is a warning where the charge rests on what is not in the input, and assuming says on what.
	severity lint.Severity
	assuming string
}

// neverFitting lists the pod sets of waiting workloads that can't be admitted whatever becomes free: each flavor of a
// resource group is too small at its most, or does not take such pods.
func neverFitting(p *lint.Pass) []blockedSet {
	return lint.Once(p.Facts, "never fitting", findNeverFitting)
}

func findNeverFitting(p *lint.Facts) []blockedSet {
	var out []blockedSet
	known := map[string]*charge.Charge{}
	for _, c := range p.Charges() {
		if lint.Waits(c.Workload) && c.Verdict != charge.Inadmissible && !clearlyFits(p, c) {
			known[identity(c.Workload)] = c
		}
	}
	if len(known) == 0 {
		return nil
	}
	complete := p.IfComplete()
	for _, w := range complete.Workloads {
		before, asked := known[identity(w)]
		if !asked {
			continue
		}
		c := complete.Charge(w)
		if c.Verdict != charge.Charged {
			continue
		}
		cq, record := p.ClusterQueueOf(c.Workload.Namespace, c.Workload.Queue)
		if record == nil {
			continue
		}
		d := complete.Decide(c)
		if d.State != admission.Pending && d.State != admission.Inadmissible {
			continue
		}
		bySet := map[string][]admission.Attempt{}
		var order []string
		for _, a := range d.Attempts {
			if bySet[a.PodSet] == nil {
				order = append(order, a.PodSet)
			}
			bySet[a.PodSet] = append(bySet[a.PodSet], a)
		}
		for _, set := range order {
			if hopeless(bySet[set]) {
				b := blockedSet{charge: c, podSet: set, queue: record, tried: bySet[set], severity: lint.Error}
				switch {
				case before.Verdict != charge.Charged:
					b.severity, b.assuming = lint.Warning, " (if no DeviceClass that is not in the input changes "+
						"what it is charged)"
				case cq.Spec.CohortName != "" && !p.Snapshot.Coverage.Has(cluster.Cohort):
					b.severity, b.assuming = lint.Warning, " (if no Cohort that is not in the input gives it more)"
				}
				out = append(out, b)
			}
		}
	}
	return out
}

// hopeless tells that no attempt can ever succeed.
func hopeless(attempts []admission.Attempt) bool {
	for _, a := range attempts {
		if a.Mode != admission.NoFit || !over(a) && !mismatched(a) {
			return false
		}
	}
	return len(attempts) > 0
}

// over tells that a flavor is too small for the request at its most.
func over(a admission.Attempt) bool {
	for _, l := range a.Lines {
		if l.Over {
			return true
		}
	}
	return false
}

// mismatched tells that a flavor does not take the pods: a taint they do not tolerate, labels they do not
// select, topology where there is none, or the other way round.
func mismatched(a admission.Attempt) bool {
	for _, r := range a.Reasons {
		if len(message.Find(r, message.UntoleratedTaint, message.NodeAffinity, message.NoTopology,
			message.OnlyTopology)) > 0 {
			return true
		}
	}
	return false
}

func identity(w *workload.Workload) string { return w.OwnerRef.String() + " " + w.Ref().String() }
