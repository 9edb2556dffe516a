package remedy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// remedies looks for small changes that would admit a workload which waits or is refused. Each is tried.
func (f *Finder) remedies(x *subject) []Remedy {
	switch {
	case x.Charge.Workload == nil || x.Charge.Verdict == charge.Unknown || x.Reported.State == admission.Finished:
		return nil
	case x.Predicted.State != admission.Inadmissible && x.Predicted.State != admission.Deactivated &&
		x.Predicted.State != admission.Pending:
		return nil
	}
	var out []Remedy
	if x.Predicted.State == admission.Pending {
		k := x.common
		out = append(out, k.waitFor.or(func() []Remedy { return f.waitFor(x) })...)
		out = append(out, f.pinSize(x)...)
		out = append(out, f.fewerPods(x)...)
		out = append(out, k.raise.or(func() []Remedy { return f.raise(x) })...)
		out = append(out, k.borrow.or(func() []Remedy { return f.borrow(x) })...)
		out = append(out, f.fitFlavor(x)...)
	}
	return f.inFiles(append(out, f.edited(x, len(out) == 0)...))
}

// edited are the remedies that take all layers to try; changes in steps are looked for where nothing else helps. What
// is found is shared by workloads that are alike, unless it is a change of the workload itself.
func (f *Finder) edited(x *subject, alone bool) []Remedy {
	w := x.Charge.Workload
	key := editKey{w.OwnerRef.GroupKind(), w.Record != nil, w.Namespace, alone}
	if out, known := x.common.edits[key]; known {
		return out
	}
	out, first := f.edits(x)
	if alone && len(out) == 0 && f.depth < mostSteps {
		out = f.inSteps(x, first)
	}
	if !slices.ContainsFunc(out, func(r Remedy) bool { return changes(r, w) }) {
		x.common.edits[key] = out
	}
	return out
}

// changes tells that the remedy is a change of the workload or its job.
func changes(r Remedy, w *workload.Workload) bool {
	return slices.ContainsFunc(r.Changes, func(c cluster.Change) bool {
		return c.Ref == w.Ref() || c.Ref == w.OwnerRef || w.Owner != nil && c.Ref == w.Owner.Ref
	})
}

// mostSteps bounds how many changes are put together where one alone does not do.
const mostSteps = 2

// mostFirst bounds the changes that are tried as a first step.
const mostFirst = 3

// inSteps joins a change that brings the workload further with one that admits it then: of what it finds, the one of
// the fewest changes.
func (f *Finder) inSteps(x *subject, first []Remedy) []Remedy {
	var least []Remedy
	for _, r := range first[:min(len(first), mostFirst)] {
		next, c := f.after(x.Charge, r.Changes...)
		if c == nil {
			continue
		}
		next.depth = f.depth + 1
		remedies := next.Explain(c).Remedies
		if i := slices.IndexFunc(remedies, func(then Remedy) bool { return len(then.Changes) > 0 }); i >= 0 {
			then := remedies[i]
			joined := Remedy{Action: r.Action + "; then " + then.Action, Effect: r.Effect,
				Changes: append(slices.Clone(r.Changes), then.Changes...)}
			if r.Patch != "" && then.Patch != "" {
				joined.Patch = r.Patch + "\n" + then.Patch
			}
			if len(least) == 0 || len(joined.Changes) < len(least[0].Changes) {
				least = []Remedy{joined}
			}
			if len(joined.Changes) == len(r.Changes)+1 {
				break
			}
		}
	}
	return least
}

func served(d *admission.Decision) bool {
	return d.State == admission.Admitted || d.State == admission.QuotaReserved
}

// mostTried bounds how many workloads are tried as the one to wait for.
const mostTried = 100

// waitFor finds the workload that would make room by ending: the smallest that does alone, else as few as possible.
func (f *Finder) waitFor(x *subject) []Remedy {
	holders := uniqueHolders(x.Holders)
	try := func(hs []admission.Holder) bool {
		gone := make([]*charge.Charge, len(hs))
		for i, h := range hs {
			gone[i] = h.Charge
		}
		return f.engine.CouldFit(x.Charge, gone) &&
			served(f.engine.DecideWith(x.Charge, admission.WhatIf{Without: gone}))
	}
	for i := len(holders) - 1; i >= max(0, len(holders)-mostTried); i-- {
		if try(holders[i : i+1]) {
			return []Remedy{endOf(holders[i : i+1])}
		}
	}
	for n := 2; n <= min(len(holders), mostTried); n++ {
		if !try(holders[:n]) {
			continue
		}
		chosen := slices.Clone(holders[:n])
		for i := len(chosen) - 1; i >= 0 && len(chosen) > 1; i-- {
			if without := slices.Delete(slices.Clone(chosen), i, i+1); try(without) {
				chosen = without
			}
		}
		return []Remedy{endOf(chosen)}
	}
	return nil
}

// uniqueHolders lists each workload once, the largest first.
func uniqueHolders(in []admission.Holder) []admission.Holder {
	seen := map[*charge.Charge]bool{}
	var out []admission.Holder
	for _, h := range in {
		if !seen[h.Charge] {
			seen[h.Charge] = true
			out = append(out, h)
		}
	}
	return out
}

func endOf(hs []admission.Holder) Remedy {
	names := make([]string, len(hs))
	r := Remedy{Effect: "frees the quota it holds"}
	if len(hs) > 1 {
		r.Effect = "frees the quota they hold"
	}
	for i, h := range hs {
		names[i] = h.Charge.Workload.Namespace + "/" + explain.DisplayName(h.Charge)
		r.Changes = append(r.Changes, cluster.Change{Ref: h.Charge.Workload.Ref(), Remove: true})
	}
	const most = 5
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	r.Action = "wait for " + strings.Join(names, ", ") + " to finish"
	return r
}

// fewerPods finds the largest number of pods that would be served, one pod set at a time.
func (f *Finder) fewerPods(x *subject) []Remedy {
	sets := x.Charge.PodSets
	least := x.common.fewer.or(func() fewer { return f.fewer(x) })
	if least.pods == 0 {
		return nil
	}
	all := sets[least.podSet].Count - sets[least.podSet].Reclaimable
	pods := "pods"
	if least.pods == 1 {
		pods = "pod"
	}
	r := Remedy{Action: fmt.Sprintf("run %d %s instead of %d", least.pods, pods, all), Effect: "fits what is free now"}
	if len(sets) > 1 {
		r.Action += " in pod set " + sets[least.podSet].Name
	}
	patchCount(&r, x.Charge.Workload, least)
	return []Remedy{r}
}

func (f *Finder) fewer(x *subject) fewer {
	sets := x.Charge.PodSets
	for i := len(sets) - 1; i >= 0; i-- {
		counts := make([]int32, len(sets))
		for n := range sets {
			counts[n] = int32(sets[n].Count - sets[n].Reclaimable)
		}
		low, high := int32(0), counts[i]-1 // none known to fit at low
		for low < high {
			counts[i] = (low + high + 1) / 2
			if served(f.engine.DecideWith(x.Charge, admission.WhatIf{Counts: counts})) {
				low = counts[i]
			} else {
				high = counts[i] - 1
			}
		}
		counts[i] = low
		if low >= 1 && served(f.engine.DecideWith(x.Charge, admission.WhatIf{Counts: counts})) {
			return fewer{i, low}
		}
	}
	return fewer{}
}

// patchCount adds the command for a Job. Other kinds count their pods in several places: what changes is shown on their
// Workload, which is made from the job and not for people to edit.
func patchCount(r *Remedy, w *workload.Workload, f fewer) {
	switch {
	case w.Owner != nil && w.Owner.Ref.GroupKind() == cluster.Job:
		patch := operations(op{"add", "/spec/parallelism", f.pods})
		r.Changes = []cluster.Change{{Ref: w.Owner.Ref, Patch: patch}}
		r.Patch = kubectlPatch(w.Owner.Ref, patch)
	case w.Record != nil:
		r.Changes = []cluster.Change{{Ref: w.Record.Ref,
			Patch: operations(op{"add", fmt.Sprintf("/spec/podSets/%d/count", f.podSet), f.pods})}}
	}
}

// most raises that follow from one another, one for each pod set and resource.
const mostRaises = 16

// raise finds the least nominal quota that would do, in the flavor that comes closest.
func (f *Finder) raise(x *subject) []Remedy {
	return f.enlarge(x, "nominalQuota", func(l *quota.Limits, by quota.Amount) bool {
		l.Nominal = l.Nominal.Add(by)
		return true
	})
}

// borrow finds the least borrowing limit that would do.
func (f *Finder) borrow(x *subject) []Remedy {
	node := f.engine.Node(x.Charge.ClusterQueue)
	if node == nil || node.Parent() == nil {
		return nil
	}
	return f.enlarge(x, "borrowingLimit", func(l *quota.Limits, by quota.Amount) bool {
		if l.BorrowingLimit == nil {
			return false
		}
		more := l.BorrowingLimit.Add(by)
		l.BorrowingLimit = &more
		return true
	})
}

// enlarge raises a field by what is short until the workload is served.
func (f *Finder) enlarge(x *subject, field string, grow func(*quota.Limits, quota.Amount) bool) []Remedy {
	name := x.Charge.ClusterQueue
	node := f.engine.Node(name)
	if node == nil {
		return nil
	}
	limits := map[quota.FlavorResource]quota.Limits{}
	short := explain.Closest(x.Binding)
	for range mostRaises {
		if len(short) == 0 {
			return nil
		}
		for _, b := range short {
			l, changed := limits[b.FlavorResource]
			if !changed {
				l = node.Limits(b.FlavorResource)
			}
			if !grow(&l, b.Short) {
				return nil
			}
			limits[b.FlavorResource] = l
		}
		d := f.engine.DecideWith(x.Charge,
			admission.WhatIf{Limits: map[string]map[quota.FlavorResource]quota.Limits{name: limits}})
		if served(d) {
			return f.enlarged(name, field, limits)
		}
		short = explain.Closest(f.explainer.Binding(x.Charge, d))
	}
	return nil
}

func (f *Finder) enlarged(name, field string, limits map[quota.FlavorResource]quota.Limits) []Remedy {
	queue := f.queue(name)
	node := f.engine.Node(name)
	usage := quota.Usage{}
	for fr := range limits {
		usage[fr] = 0
	}
	var ops []op
	var texts []string
	for _, fr := range usage.Sorted() {
		at := pointer(queue, fr)
		if at == "" {
			return nil
		}
		was, will := node.Limits(fr).Nominal, limits[fr].Nominal
		if field == "borrowingLimit" {
			was, will = *node.Limits(fr).BorrowingLimit, *limits[fr].BorrowingLimit
		}
		ops = append(ops, op{"replace", at + "/" + field, f.format(fr.Resource, will)})
		texts = append(texts,
			fmt.Sprintf("%s of %s in flavor %s from %s to %s", field, fr.Resource, fr.Flavor,
				f.format(fr.Resource, was), f.format(fr.Resource, will)))
	}
	ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.ClusterQueue.Kind, Name: name}
	patch := operations(ops...)
	r := Remedy{Action: "ClusterQueue " + name + ": raise " + strings.Join(texts, ", "),
		Patch: kubectlPatch(ref, patch), Changes: []cluster.Change{{Ref: ref, Patch: patch}}}
	if field == "borrowingLimit" {
		r.Effect = "its cohort has that much unused"
	}
	return []Remedy{r}
}

func (f *Finder) format(name corev1.ResourceName, v quota.Amount) string {
	return charge.Formatter{Binary: f.conf.BinaryResource}.Format(name, int64(v))
}

// pointer is where a ClusterQueue sets a quota, as a JSON pointer.
func pointer(queue *kueue.ClusterQueue, fr quota.FlavorResource) string {
	for g, group := range queue.Spec.ResourceGroups {
		for f, flavor := range group.Flavors {
			for r, res := range flavor.Resources {
				if string(flavor.Name) == fr.Flavor && res.Name == fr.Resource {
					return fmt.Sprintf("/spec/resourceGroups/%d/flavors/%d/resources/%d", g, f, r)
				}
			}
		}
	}
	return ""
}

// op is one operation of a JSON patch.
type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func operations(ops ...op) []byte {
	text, err := json.Marshal(ops)
	if err != nil {
		return nil
	}
	return text
}

func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func kubectlPatch(ref cluster.Ref, patch []byte) string {
	in := ""
	if ref.Namespace != "" {
		in = " -n " + ref.Namespace
	}
	return fmt.Sprintf("kubectl patch %s %s%s --type=json -p '%s'", strings.ToLower(ref.Kind), ref.Name, in, patch)
}

// try runs all layers again after changes, and returns what would be decided about the workload then.
func (f *Finder) try(c *charge.Charge, changes ...cluster.Change) *admission.Decision {
	next, again := f.after(c, changes...)
	if again == nil {
		return &admission.Decision{State: admission.Unknown}
	}
	return next.engine.Decide(again)
}
