package audit

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// recompute sums up what the workloads with quota would be charged now, and names those of which it is something else
// than what they hold.
func (b *builder) recompute() {
	if b.trees.Usage != admission.FromWorkloads {
		return
	}
	reasons := &reasoner{builder: b, others: map[string]*pipeline.Layers{}}
	for i := range b.reservations {
		r := &b.reservations[i]
		n := b.nodes[r.ClusterQueue]
		if r.Charge.Verdict == charge.Unknown {
			b.lacks(ColumnRecomputed, n.Ref.String(), "the charge of some workloads is not known", r.Charge.Missing...)
			for ; n != nil; n = n.Parent {
				b.sums[n].unsure = true
			}
			continue
		}
		now := b.chargedNow(r, r.Charge, b.conf)
		for ; n != nil; n = n.Parent {
			add(b.sums[n].recomputed, now)
		}
		for _, fr := range differing(r.Usage, now) {
			if !b.shown(fr.Resource) {
				continue
			}
			d := Difference{Charge: r.Charge, ClusterQueue: r.ClusterQueue, FlavorResource: fr, Reserved: r.Usage[fr],
				Recomputed: now[fr]}
			d.Reason, d.Text = reasons.of(r, d)
			b.out.Differences = append(b.out.Differences, d)
		}
	}
}

func add(to, u quota.Usage) {
	for fr, v := range u {
		to[fr] = to[fr].Add(v)
	}
}

// differing are the keys for which two usages differ, in order.
func differing(a, b quota.Usage) []quota.FlavorResource {
	keys := map[quota.FlavorResource]bool{}
	for _, u := range []quota.Usage{a, b} {
		for fr := range u {
			if a[fr] != b[fr] {
				keys[fr] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(keys), compareRows)
}

// chargedNow is what a charge of the workload, under a configuration, costs in the flavors it was admitted with, for
// the pods that hold quota.
func (b *builder) chargedNow(r *admission.Reservation, c *charge.Charge, conf *config.Config) quota.Usage {
	out := quota.Usage{}
	for i := range c.PodSets {
		set := &c.PodSets[i]
		n := c.AdmittedPods(i)
		if conf.Enabled(release.ReclaimablePods) {
			n = max(0, min(n, set.Count-set.Reclaimable))
		}
		assigned := podSet(r, set.Name)
		for name, v := range set.ScaledTo(n) {
			if v == 0 {
				continue
			}
			flavor, covered := b.flavorOf(r.ClusterQueue, assigned, name)
			if covered || !conf.IgnoresUndeclared() {
				fr := quota.FlavorResource{Flavor: flavor, Resource: name}
				out[fr] = out[fr].Add(quota.Amount(v))
			}
		}
	}
	return out
}

func podSet(r *admission.Reservation, name string) admission.PodSet {
	for _, ps := range r.PodSets {
		if ps.Name == name {
			return ps
		}
	}
	return admission.PodSet{}
}

// flavorOf is the flavor that a pod set has for a resource: its own, or that of another resource of the same group,
// since Kueue gives a group one flavor. It is empty where the pod set has none. covered is false for a resource that
// the queue does not cover.
func (b *builder) flavorOf(queue string, ps admission.PodSet, name corev1.ResourceName) (flavor string, covered bool) {
	if f := ps.Flavors[name]; f != "" {
		return f, true
	}
	for _, g := range b.nodes[queue].Object.Spec.ResourceGroups {
		if !slices.Contains(g.CoveredResources, name) {
			continue
		}
		for _, other := range g.CoveredResources {
			if f := ps.Flavors[other]; f != "" {
				return f, true
			}
		}
		return "", true
	}
	return "", false
}
