package explain

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/fit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
)

// Assigned are the flavors of each pod set, whose labels decide which nodes its pods may use, and how many of its pods
// are admitted: what it has, else what it would get, else the only flavors it could wait for. Pod sets for which that
// is not certain are left out.
func (x *Explanation) Assigned() map[string]fit.Assignment {
	out := map[string]fit.Assignment{}
	take := func(podSet, flavor string, count *int32) {
		a := out[podSet]
		if a.Count = count; !slices.Contains(a.Flavors, flavor) {
			a.Flavors = append(a.Flavors, flavor)
			slices.Sort(a.Flavors)
		}
		out[podSet] = a
	}
	w := x.Charge.Workload
	switch {
	case w != nil && recorded.HoldsQuota(w.Object):
		for ps := range recorded.PodSets(w.Object) {
			for _, flavor := range ps.Flavors {
				take(ps.Name, string(flavor), ps.Count)
			}
		}
	case x.Predicted != nil && len(x.Predicted.PodSets) > 0:
		for _, ps := range x.Predicted.PodSets {
			for _, flavor := range ps.Flavors {
				take(ps.Name, flavor, &ps.Count)
			}
		}
	case x.Predicted != nil:
		for _, at := range waitedFor(x.Predicted.Attempts) {
			take(at.PodSet, at.Flavor, nil)
		}
	}
	return out
}

// waitedFor are the attempts that a pod set waits for: those chosen, and the only one there was.
func waitedFor(attempts []admission.Attempt) []admission.Attempt {
	var out []admission.Attempt
	for i, at := range attempts {
		alone := !slices.ContainsFunc(slices.Concat(attempts[:i], attempts[i+1:]),
			func(o admission.Attempt) bool { return o.PodSet == at.PodSet })
		if at.Chosen || alone {
			out = append(out, at)
		}
	}
	return out
}

// HasQuota tells that quota is reserved for the workload, or would be by the next attempt.
func (x *Explanation) HasQuota() bool {
	w := x.Charge.Workload
	if w != nil && w.Object != nil && w.Object.Status.Admission != nil {
		return true
	}
	return x.Predicted != nil && (x.Predicted.State == Admitted || x.Predicted.State == QuotaReserved)
}
