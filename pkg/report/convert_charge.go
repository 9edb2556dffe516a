package report

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

func kueueOf(conf *config.Config) Kueue {
	k := Kueue{
		Version: conf.Version, VersionSource: string(conf.VersionSource), FeatureGates: conf.NotableGates(),
		Configuration: conf.From, Assumptions: conf.Assumptions, Refusal: conf.Refusal(),
	}
	for _, p := range conf.Problems {
		problem := ConfigProblem{Path: p.Path, Message: p.Message}
		problem.File, problem.Line = place(p.Origin, p.Path)
		k.Problems = append(k.Problems, problem)
	}
	return k
}

func newCharge(c *charge.Charge, units Units) Charge {
	out := Charge{
		ClusterQueue: c.ClusterQueue, Verdict: string(c.Verdict), Total: map[string]string{},
		PodSets: make([]PodSet, 0, len(c.PodSets)), Problems: make([]Problem, 0, len(c.Problems)),
		Missing: list(c.Missing), Notes: c.Notes,
	}
	if w := c.Workload; w != nil {
		out.LocalQueue = w.Queue
		out.Workload, out.Owner = refs(w)
		if w.Index >= 0 {
			out.Index = &w.Index
		}
		for _, r := range w.Reasons {
			out.Reasons = append(out.Reasons, newReason(r))
		}
	}
	for _, ps := range c.PodSets {
		out.PodSets = append(out.PodSets, newPodSet(ps, units))
	}
	for name, amount := range c.Total {
		out.Total[string(name)] = units.Format(name, amount)
	}
	if c.Published != nil {
		out.Published = make(map[string]string, len(c.Published))
		for name, quantity := range c.Published {
			out.Published[string(name)] = quantity
		}
	}
	for _, p := range c.Problems {
		out.Problems = append(out.Problems, Problem{
			Code: p.Code, Retryable: p.Retryable, Message: p.Message, KueueMessage: p.KueueMessage,
			PossibleKueueMessages: p.Possible, Evidence: evidence(p.Evidence),
		})
	}
	return out
}

// refs are the Workload object, when there is one, and the job, when it is known.
func refs(w *workload.Workload) (object, owner *cluster.Ref) {
	if w.Object != nil {
		ref := w.Ref()
		object = &ref
	}
	if !w.OwnerRef.IsZero() {
		ref := w.OwnerRef
		owner = &ref
	}
	return object, owner
}

func newPodSet(ps charge.PodSet, units Units) PodSet {
	out := PodSet{Name: ps.Name, Count: ps.Count, Reclaimable: ps.Reclaimable, Charges: make([]Line, 0, len(ps.Lines))}
	for _, l := range ps.Lines {
		out.Charges = append(out.Charges, Line{
			Resource: string(l.Resource), PerPod: units.Format(l.Resource, l.PerPod), Total: units.Format(l.Resource,
				l.Total),
			Method: string(l.Method), Derivation: list(l.Derivation), Evidence: evidence(l.Evidence),
		})
	}
	return out
}

func newReason(r workload.Reason) Reason {
	out := Reason{Code: r.Code, Message: r.Text}
	if !r.Object.IsZero() {
		out.Evidence = []Evidence{{Object: r.Object, Path: r.Path}}
	}
	return out
}

// evidence adds to every fact the place in the file it was read from. Finding the place costs a look
// into the file's bytes, so it is done only for output that shows it.
func evidence(facts []charge.Evidence) []Evidence {
	out := make([]Evidence, 0, len(facts))
	for _, f := range facts {
		e := Evidence{Object: f.Subject(), Path: f.Path, Value: f.Value}
		e.File, e.Line = place(f.ReadFrom(), f.Path)
		out = append(out, e)
	}
	return out
}

// place is the file and line of a field, or of the object when the field has no place of its own.
func place(o *source.Origin, path string) (file string, line int) {
	if o == nil || o.File == "" {
		return "", 0
	}
	if path != "" {
		if pos, ok := o.Field(path); ok {
			return o.File, pos.Line
		}
	}
	return o.File, o.Line
}

// list is never nil, so that it prints as [].
func list(in []string) []string {
	if in == nil {
		return []string{}
	}
	return in
}

// amount prints one amount of a charge.
func (u Units) amount(name corev1.ResourceName, v int64, known bool) string {
	if !known {
		return ""
	}
	return u.Format(name, v)
}
