// Package program asks the program what it decides about a dump, in the shape of an outcome.Result.
package program

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// Simulate lets the program run scheduling cycles over a dump, as Kueue of a version would.
func Simulate(dump []byte, version string, replay bool) (*outcome.Result, error) {
	layers, err := pipeline.Load(context.Background(), "dump", dump, config.Options{Version: version})
	if err != nil {
		return nil, err
	}
	d := describer{format: charge.Formatter{Binary: layers.Config.BinaryResource}}
	result := d.simulation(layers.Simulate(replay))
	if !replay {
		for _, c := range layers.Charges() {
			result.Next = append(result.Next, d.decision(c, layers.Decide(c)))
		}
	}
	return result, nil
}

type describer struct{ format charge.Formatter }

func (d describer) simulation(s *admission.Simulation) *outcome.Result {
	result := &outcome.Result{Kind: "SimulationResult", Mode: "pending"}
	if s.Replay {
		result.Mode = "replay"
	}
	for _, o := range s.Workloads {
		if o.State != admission.None {
			result.Workloads = append(result.Workloads, d.workload(o))
		}
	}
	slices.SortFunc(result.Workloads, func(a, b outcome.Workload) int { return a.Workload.Compare(b.Workload) })
	for _, c := range s.Timeline {
		cycle := outcome.Cycle{Cycle: c.Number}
		for _, step := range c.Steps {
			cycle.Decisions = append(cycle.Decisions, outcome.CycleDecision{
				Workload: outcome.ParseReference(step.Workload), ClusterQueue: step.ClusterQueue,
				Decision: string(step.Decision), Detail: step.Detail,
			})
		}
		result.Timeline = append(result.Timeline, cycle)
	}
	for _, q := range s.Queues {
		result.ClusterQueues = append(result.ClusterQueues, outcome.ClusterQueue{
			Name: q.Name, Usage: d.usage(q.Usage), Pending: q.Pending, Admitted: q.Admitted,
		})
	}
	return result
}

func (d describer) workload(o admission.Outcome) outcome.Workload {
	described := outcome.Workload{
		Workload:        outcome.Reference{Namespace: o.Charge.Workload.Namespace, Name: o.Charge.Workload.Name},
		State:           string(o.State),
		AdmittedInCycle: o.Cycle,
		PodSets:         d.podSets(o.PodSets),
	}
	if o.State == admission.Unknown {
		described.Message = fmt.Sprintf("unknown: %s", o.Why)
	}
	if o.PodSets == nil && o.State != admission.Unknown && o.State != admission.Finished {
		described.Reason, described.Message, described.PossibleMessages = o.Reason, o.Message, o.Possible
	}
	return described
}

// decision is what the next attempts of one Workload come to, as one attempt.
func (d describer) decision(c *charge.Charge, decided *admission.Decision) outcome.Decision {
	attempt := outcome.Attempt{
		Mode: "NoFit", Message: decided.Message, PossibleMessages: decided.Possible,
		PodSets: d.podSets(decided.PodSets),
	}
	switch decided.State {
	case admission.Admitted, admission.QuotaReserved:
		attempt.Mode = "Fit"
	case admission.Preempts:
		attempt.Mode = "Preempt"
	case admission.Unknown:
		attempt.Message = fmt.Sprintf("unknown: %s %v", decided.Why, decided.Missing)
	}
	if decided.Borrows {
		attempt.Borrowing = 1
	}
	for _, target := range decided.Targets {
		of := target.Charge.Workload
		attempt.Preempts = append(attempt.Preempts,
			outcome.Victim{Workload: outcome.Reference{Namespace: of.Namespace, Name: of.Name}, Reason: target.Reason})
	}
	slices.SortFunc(attempt.Preempts, func(a, b outcome.Victim) int { return a.Workload.Compare(b.Workload) })
	return outcome.Decision{
		Workload:     outcome.Reference{Namespace: c.Workload.Namespace, Name: c.Workload.Name},
		ClusterQueue: c.ClusterQueue,
		Attempts:     []outcome.Attempt{attempt},
	}
}

func (d describer) podSets(sets []admission.PodSet) []outcome.PodSet {
	var out []outcome.PodSet
	for _, set := range sets {
		described := outcome.PodSet{Name: set.Name, Count: set.Count}
		for resource, flavor := range set.Flavors {
			if described.Flavors == nil {
				described.Flavors, described.Usage = map[string]string{}, map[string]string{}
			}
			described.Flavors[string(resource)] = flavor
			described.Usage[string(resource)] = d.format.Format(resource, set.Usage[resource])
		}
		out = append(out, described)
	}
	return out
}

func (d describer) usage(used quota.Usage) map[string]map[string]string {
	usage := map[string]map[string]string{}
	for fr, amount := range used {
		if usage[fr.Flavor] == nil {
			usage[fr.Flavor] = map[string]string{}
		}
		usage[fr.Flavor][string(fr.Resource)] = d.format.Format(fr.Resource, int64(amount))
	}
	return usage
}
