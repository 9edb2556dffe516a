package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// Request is what one pod asks for of one resource by its ordinary requests, after exclusions and
// transformations, before devices are added.
type Request struct {
	Name     corev1.ResourceName
	Quantity resource.Quantity
	// Kept is the part of Quantity that the pod requests itself; the rest is the output of transformations.
	Kept resource.Quantity
	// Transformed tells that a transformation produced (part of) it.
	Transformed bool
	// Steps say where the number comes from.
	Steps []string
	// Others are the other values the version may compute, depending on an arbitrary order.
	Others []resource.Quantity
}

// PodRequests are the ordinary requests of one pod of a pod set.
type PodRequests struct {
	// Spec is the pod's spec as Kueue prices it: with overhead, LimitRange defaults, and limits as
	// missing requests. It shares parts with the template and must not be changed.
	Spec *corev1.PodSpec
	// Requests sorted by name.
	Requests []Request
	// Missing lists kinds whose absence leaves the requests unknown.
	Missing []string
	// Uncertain says why a number depends on an arbitrary order, if it does.
	Uncertain []string
	// Excluded names the resources dropped by an excluded prefix, sorted.
	Excluded []corev1.ResourceName
}

// Requester computes ordinary requests: overhead, LimitRange, limits as missing requests, the pod's
// sum, excluded prefixes, transformations, in this order.
type Requester struct {
	snap   *cluster.Snapshot
	cfg    *config.Config
	ranges map[string]*limitSummary
}

// NewRequester reads the LimitRanges of the snapshot.
func NewRequester(snap *cluster.Snapshot, cfg *config.Config) *Requester {
	r := &Requester{snap: snap, cfg: cfg, ranges: map[string]*limitSummary{}}
	for o, lr := range cluster.All[*corev1.LimitRange](snap, cluster.LimitRange) {
		s := r.ranges[o.Ref.Namespace]
		if s == nil {
			s = newLimitSummary()
			r.ranges[o.Ref.Namespace] = s
		}
		s.add(o, lr)
	}
	return r
}

// PodSet computes the requests of one pod of a pod set in a namespace.
func (r *Requester) PodSet(namespace string, ps *PodSet) PodRequests {
	var out PodRequests
	var origin origins
	out.Spec = r.adjust(namespace, &ps.Template.Spec, &out, &origin)
	total := r.total(out.Spec)
	for _, name := range slices.Sorted(maps.Keys(total)) {
		if r.excluded(name) {
			out.Excluded = append(out.Excluded, name)
		}
	}
	for _, t := range transform(total, out.Excluded, r.cfg) {
		q := Request{Name: t.name, Quantity: t.value, Kept: t.kept, Transformed: t.transformed, Steps: t.steps,
			Others: t.others}
		if !t.transformed {
			q.Steps = origin.steps(out.Spec, t.name)
		}
		if len(t.others) > 0 {
			out.Uncertain = append(out.Uncertain, fmt.Sprintf(
				"%s is both requested and the output of a transformation; %s adds or overwrites depending on map order",
				t.name, r.cfg.Version))
		}
		out.Requests = append(out.Requests, q)
	}
	out.Uncertain = append(out.Uncertain, origin.uncertain...)
	return out
}

// total is the request of a pod. Requests at pod level stand for the sum of the containers, whatever it is, unless the
// release charges at least that sum.
func (r *Requester) total(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *spec}
	total := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	if spec.Resources == nil || !r.cfg.Behavior.PodLevelCoversContainers {
		return total
	}
	containers := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{SkipPodLevelResources: true})
	for name, q := range containers {
		if at, ok := total[name]; !ok || q.Cmp(at) > 0 {
			total[name] = q
		}
	}
	return total
}

func (r *Requester) excluded(name corev1.ResourceName) bool {
	res := r.cfg.Configuration.Resources
	if res == nil {
		return false
	}
	for _, prefix := range res.ExcludeResourcePrefixes {
		if strings.HasPrefix(string(name), prefix) {
			return true
		}
	}
	return false
}

// origins remembers which adjustments touched a resource.
type origins struct {
	limits, ranges map[corev1.ResourceName]bool
	rangeName      string
	overhead       string
	uncertain      []string
}

func mark(m *map[corev1.ResourceName]bool, name corev1.ResourceName) {
	if *m == nil {
		*m = map[corev1.ResourceName]bool{}
	}
	(*m)[name] = true
}

// steps says in words where the pod's request for a resource comes from.
func (o *origins) steps(spec *corev1.PodSpec, name corev1.ResourceName) []string {
	var steps []string
	switch {
	case spec.Resources != nil && has(spec.Resources.Requests, name) &&
		resourcehelper.IsSupportedPodLevelResource(name):
		steps = append(steps, "pod-level requests")
	case o.ranges[name]:
		steps = append(steps, "container requests, with defaults of LimitRange "+o.rangeName)
	case o.limits[name]:
		steps = append(steps, "container limits (taken as requests)")
	default:
		steps = append(steps, "container requests")
	}
	if n := len(spec.InitContainers); n > 0 &&
		slices.ContainsFunc(spec.InitContainers,
			func(c corev1.Container) bool { return has(c.Resources.Requests, name) }) {
		steps[0] += ", init containers included"
	}
	if q, ok := spec.Overhead[name]; ok {
		steps = append(steps, fmt.Sprintf("+ %s overhead%s", q.String(), o.overhead))
	}
	return steps
}

func has(l corev1.ResourceList, name corev1.ResourceName) bool { _, ok := l[name]; return ok }

// adjust copies the spec as far as the adjustments change it. Most change nothing: then it is the spec itself.
func (r *Requester) adjust(namespace string, in *corev1.PodSpec, out *PodRequests, o *origins) *corev1.PodSpec {
	spec := *in
	spec.InitContainers = slices.Clone(in.InitContainers)
	spec.Containers = slices.Clone(in.Containers)
	if in.Resources != nil {
		res := *in.Resources
		spec.Resources = &res
	}
	r.addOverhead(&spec, out, o)
	limits := r.ranges[namespace]
	changed := limits != nil || len(spec.Overhead) > 0
	filled := func(name corev1.ResourceName) {
		changed = true
		mark(&o.limits, name)
	}
	each := func(res *corev1.ResourceRequirements) {
		if r.cfg.Behavior.LimitIsRequest {
			fill(&res.Requests, res.Limits, filled)
		}
		if limits != nil {
			limits.applyContainer(res, o)
		}
		fill(&res.Requests, res.Limits, filled)
	}
	for i := range spec.InitContainers {
		each(&spec.InitContainers[i].Resources)
	}
	for i := range spec.Containers {
		each(&spec.Containers[i].Resources)
	}
	if spec.Resources != nil && r.cfg.Behavior.PodLevelResources {
		if limits != nil {
			limits.applyPod(spec.Resources, o)
		}
		fill(&spec.Resources.Requests, spec.Resources.Limits, filled)
	}
	if !changed {
		return in
	}
	return &spec
}

// addOverhead completes the overhead from the RuntimeClass. A class that does not exist is ignored, as Kueue does.
func (r *Requester) addOverhead(spec *corev1.PodSpec, out *PodRequests, o *origins) {
	if spec.RuntimeClassName == nil || len(spec.Overhead) > 0 {
		return
	}
	rc, _, ok := cluster.Lookup[*nodev1.RuntimeClass](r.snap, cluster.RuntimeClass, "", *spec.RuntimeClassName)
	if !ok {
		if !r.snap.Coverage.Has(cluster.RuntimeClass) {
			out.Missing = append(out.Missing, cluster.RuntimeClass.Kind)
		}
		return
	}
	if rc.Overhead != nil {
		spec.Overhead = rc.Overhead.PodFixed
		o.overhead = " of RuntimeClass " + *spec.RuntimeClassName
	}
}

// fill copies the entries of from that into lacks, leaving the original map alone.
func fill(into *corev1.ResourceList, from corev1.ResourceList, added func(corev1.ResourceName)) {
	cloned := false
	for name, q := range from {
		if has(*into, name) {
			continue
		}
		if !cloned {
			*into, cloned = maps.Clone(*into), true
			if *into == nil {
				*into = corev1.ResourceList{}
			}
		}
		(*into)[name] = q
		added(name)
	}
}
