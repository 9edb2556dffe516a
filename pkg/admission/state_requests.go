// Limits and LimitRanges. Mirrors pkg/workload/resources.go and pkg/util/limitrange.

package admission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

const (
	aboveLimit    = "requests must not exceed its limits"
	aboveRangeMax = "requests must not be above the limitRange max"
	belowRangeMin = "requests must not be below the limitRange min"
)

// limitSummary joins the LimitRanges of one namespace: the lowest maximum and the highest minimum count.
type limitSummary map[corev1.LimitType]*limitBounds

type limitBounds struct{ most, least corev1.ResourceList }

func summarise(snap *cluster.Snapshot) map[string]limitSummary {
	out := map[string]limitSummary{}
	for o, lr := range cluster.All[*corev1.LimitRange](snap, cluster.LimitRange) {
		for _, item := range lr.Spec.Limits {
			if out[o.Ref.Namespace] == nil {
				out[o.Ref.Namespace] = limitSummary{}
			}
			b := out[o.Ref.Namespace][item.Type]
			if b == nil {
				b = &limitBounds{}
				out[o.Ref.Namespace][item.Type] = b
			}
			b.most = join(b.most, item.Max, -1)
			b.least = join(b.least, item.Min, 1)
		}
	}
	return out
}

// join keeps the larger (sign 1) or smaller (sign -1) of each resource's two quantities.
func join(a, b corev1.ResourceList, sign int) corev1.ResourceList {
	out := maps.Clone(a)
	for name, q := range b {
		if old, ok := out[name]; !ok || q.Cmp(old)*sign > 0 {
			if out == nil {
				out = corev1.ResourceList{}
			}
			out[name] = q
		}
	}
	return out
}

// above lists the resources of which a has more than b, where both name them.
func above(a, b corev1.ResourceList) []string {
	var out []string
	for name, q := range a {
		if bound, ok := b[name]; ok && charge.Units(name, q) > charge.Units(name, bound) {
			out = append(out, string(name))
		}
	}
	slices.Sort(out)
	return out
}

// requestViolations checks, as the scheduler does before it looks at quota, that requests are within limits and within
// the namespace's LimitRanges. It returns every message that Kueue may write; none when nothing is wrong.
func (e *Engine) requestViolations(wl *schedulerWorkload) []string {
	if e.snap.Coverage.Has(cluster.Namespace) && e.snap.Get(cluster.Namespace, "", wl.namespace) == nil &&
		!wl.fromManifest() {
		return []string{
			message.Of(message.NamespaceNotFound, wl.namespace,
				fmt.Sprintf(": namespaces %q not found", wl.namespace)).Text(),
		}
	}
	var limits, ranges []violation
	for i := range wl.sets {
		spec := wl.sets[i].spec
		if len(e.ranges[wl.namespace]) == 0 && !limited(spec) {
			continue
		}
		path := field.NewPath("spec", "podSets").Index(i).Child("template", "spec")
		limits = append(limits, e.aboveLimits(spec, path)...)
		ranges = append(ranges, e.ranges[wl.namespace].check(spec, path)...)
	}
	switch {
	case len(limits) > 0:
		return e.texts(message.RequestsAboveLimits, limits)
	case len(ranges) > 0:
		return e.texts(message.OutsideLimitRange, ranges)
	}
	return nil
}

// violation is what is wrong with the requests at a path: the resources, in the order of their names, and how.
type violation struct {
	path   *field.Path
	names  []string
	detail string
}

// texts are the messages about violations, of which versions that leave the order of resources to chance have several.
func (e *Engine) texts(code message.Code, found []violation) []string {
	lists := []field.ErrorList{nil}
	for _, v := range found {
		orders := [][]string{v.names}
		if !e.conf.Behavior.SortedGreaterKeys {
			orders = permutations(v.names, MostPossible)
		}
		var next []field.ErrorList
		for _, sofar := range lists {
			for _, names := range orders {
				if len(next) < MostPossible {
					next = append(next, append(slices.Clip(sofar), field.Invalid(v.path, names, v.detail)))
				}
			}
		}
		lists = next
	}
	out := make([]string, len(lists))
	for i, list := range lists {
		out[i] = message.Of(code, list.ToAggregate().Error()).Text()
	}
	return out
}

// permutations lists orders of names, but not too many; the first is the order they have.
func permutations(names []string, most int) [][]string {
	if len(names) < 2 {
		return [][]string{names}
	}
	var out [][]string
	for i := range names {
		rest := slices.Delete(slices.Clone(names), i, i+1)
		for _, order := range permutations(rest, most) {
			if len(out) == most {
				return out
			}
			out = append(out, append([]string{names[i]}, order...))
		}
	}
	return out
}

// limited reports whether there are limits to compare with.
func limited(spec *corev1.PodSpec) bool {
	has := func(c corev1.Container) bool { return len(c.Resources.Limits) > 0 }
	return spec.Resources != nil || slices.ContainsFunc(spec.Containers, has) ||
		slices.ContainsFunc(spec.InitContainers, has)
}

func (wl *schedulerWorkload) fromManifest() bool {
	o := recordOf(wl.charge.Workload)
	return o == nil || o.Laid
}

func (e *Engine) aboveLimits(spec *corev1.PodSpec, path *field.Path) []violation {
	var out []violation
	each := func(containers []corev1.Container, path *field.Path) {
		for i := range containers {
			if names := above(containers[i].Resources.Requests, containers[i].Resources.Limits); len(names) > 0 {
				out = append(out, violation{path.Index(i), names, aboveLimit})
			}
		}
	}
	each(spec.InitContainers, path.Child("initContainers"))
	each(spec.Containers, path.Child("containers"))
	if r := spec.Resources; r != nil && e.conf.Behavior.PodLevelResources {
		if names := above(r.Requests, r.Limits); len(names) > 0 {
			out = append(out, violation{path.Child("resources"), names, aboveLimit})
		}
	}
	return out
}

func (s limitSummary) check(spec *corev1.PodSpec, path *field.Path) []violation {
	var out []violation
	bounded := func(most, least corev1.ResourceList, b *limitBounds, path *field.Path) {
		if names := above(most, b.most); len(names) > 0 {
			out = append(out, violation{path, names, aboveRangeMax})
		}
		if names := above(b.least, least); len(names) > 0 {
			out = append(out, violation{path, names, belowRangeMin})
		}
	}
	if b := s[corev1.LimitTypeContainer]; b != nil {
		for _, list := range []struct {
			containers []corev1.Container
			path       *field.Path
		}{{spec.InitContainers, path.Child("initContainers")}, {spec.Containers, path.Child("containers")}} {
			for i := range list.containers {
				r := &list.containers[i].Resources
				bounded(join(r.Requests, r.Limits, 1), join(r.Requests, r.Limits, -1), b, list.path.Index(i))
			}
		}
	}
	if b := s[corev1.LimitTypePod]; b != nil {
		total := resourcehelper.PodRequests(&corev1.Pod{Spec: *spec}, resourcehelper.PodResourcesOptions{})
		bounded(total, total, b, path)
	}
	return out
}
