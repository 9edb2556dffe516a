package charge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// extendedRequest is one container's request for an extended resource, at its adjusted value: limits
// and LimitRange defaults count here, though they do not bring a workload onto the device path.
type extendedRequest struct {
	init     bool
	index    int
	name     corev1.ResourceName
	quantity resource.Quantity
}

func (q extendedRequest) segment() string {
	if q.init {
		return "initContainers"
	}
	return "containers"
}

func (q extendedRequest) path(i int) *field.Path {
	return podSetPath(i).Child(q.segment()).Index(q.index)
}

// extendedResources moves extended resources that a DeviceClass declares to their quota resource. Per
// pod, init containers count by their maximum (before 0.19.6 sidecars too, whatever the pod's own sum says),
// main containers by their sum, and the larger of both is charged. All errors of all pod sets are told.
func (r *run) extendedResources(gates) {
	var found extendedErrors
	for i := range r.w.PodSets {
		requests := r.extendedRequests(i)
		if r.e.cfg.Behavior.ExtendedAggregateBeforeMapping {
			r.extendedByName(i, requests, &found)
		} else {
			r.extendedByContainer(i, requests, &found)
		}
	}
	if len(found.errs) > 0 {
		r.refuse(refusal{code: found.code, errs: found.errs, human: strings.Join(found.human, "; "),
			evidence: found.evidence, others: found.reordered()})
	}
}

// extendedErrors collects the errors of the path. Kueue walks the names of a pod set, or in older versions
// of a container, in the order of a Go map: the errors of one name stay together, the names change places.
type extendedErrors struct {
	code     string
	errs     field.ErrorList
	human    []string
	evidence []Evidence
	// groups hold, for each walk over a map, the errors of each name.
	groups [][]field.ErrorList
}

// walk begins the walk over the names of another map.
func (x *extendedErrors) walk() { x.groups = append(x.groups, nil) }

// name begins another name of the map.
func (x *extendedErrors) name() {
	last := len(x.groups) - 1
	x.groups[last] = append(x.groups[last], nil)
}

func (x *extendedErrors) add(code string, err *field.Error, human string, evidence ...Evidence) {
	if x.code == "" {
		x.code = code
	}
	x.errs = append(x.errs, err)
	if !slices.Contains(x.human, human) {
		x.human = append(x.human, human)
	}
	x.evidence = append(x.evidence, evidence...)
	group := x.groups[len(x.groups)-1]
	group[len(group)-1] = append(group[len(group)-1], err)
}

// maxShuffled bounds the names of one map whose orders are told, and maxTexts the texts.
const (
	maxShuffled = 4
	maxTexts    = 64
)

// reordered gives the other orders in which the errors may stand.
func (x *extendedErrors) reordered() []string {
	lists := []field.ErrorList{nil}
	for _, names := range x.groups {
		names = slices.DeleteFunc(slices.Clone(names), func(l field.ErrorList) bool { return len(l) == 0 })
		if len(names) > maxShuffled {
			return nil
		}
		var next []field.ErrorList
		for _, before := range lists {
			device.EveryOrder(names, func(order []field.ErrorList) {
				if len(next) < maxTexts {
					next = append(next, append(slices.Clone(before), slices.Concat(order...)...))
				}
			})
		}
		lists = next
	}
	first := truncate(x.errs.ToAggregate().Error())
	var out []string
	for _, l := range lists {
		if text := truncate(l.ToAggregate().Error()); text != first && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// extendedRequests lists the requests of pod set i: init containers first, names sorted.
func (r *run) extendedRequests(i int) []extendedRequest {
	var out []extendedRequest
	take := func(containers []corev1.Container, init bool) {
		for k := range containers {
			requests := containers[k].Resources.Requests
			for _, name := range slices.Sorted(maps.Keys(requests)) {
				q := requests[name]
				if !isExtended(name) || q.IsZero() || q.Sign() < 0 && r.e.cfg.Behavior.ExtendedDropNonPositive {
					continue
				}
				out = append(out, extendedRequest{init: init, index: k, name: name, quantity: canonical(q)})
			}
		}
	}
	spec := r.pods[i].Spec
	take(spec.InitContainers, true)
	take(spec.Containers, false)
	return out
}

// extendedByName takes maximum and sum per resource name and maps the result.
func (r *run) extendedByName(i int, requests []extendedRequest, found *extendedErrors) {
	totals := aggregate(requests, func(q extendedRequest) corev1.ResourceName { return q.name })
	if r.e.cfg.Behavior.SidecarsSummedInExtendedResources {
		totals = r.asPodRequests(i, requests)
	}
	found.walk()
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		found.name()
		of := slices.DeleteFunc(slices.Clone(requests), func(q extendedRequest) bool { return q.name != name })
		key, ok := r.quotaKey(i, name, of[:1], found)
		if !ok {
			continue
		}
		before := len(found.errs)
		for _, q := range of {
			r.integer(i, q, found)
		}
		total := totals[name]
		value, fits := total.AsInt64()
		switch {
		case len(found.errs) > before:
			continue
		case !fits:
			path := of[0].path(i).Child("resources", "requests", string(name))
			found.add(CodeExtendedOverflow, field.Invalid(path, total.String(), "total extended resource quantity "+
				"overflows int64"),
				fmt.Sprintf("the requests for %s add up to more than an int64 holds", name), r.containerEvidence(i,
					of[0]))
			continue
		}
		r.replace(i, name, total)
		r.addExtended(i, name, key, *resource.NewQuantity(value, resource.DecimalSI), of)
	}
}

// extendedByContainer maps the names inside each container and takes maximum and sum per quota resource.
func (r *run) extendedByContainer(i int, requests []extendedRequest, found *extendedErrors) {
	var mapped []extendedRequest
	names := map[corev1.ResourceName][]extendedRequest{}
	for n, q := range requests {
		if n == 0 || requests[n-1].init != q.init || requests[n-1].index != q.index {
			found.walk()
		}
		found.name()
		if !r.classBacked(q.name) || len(r.e.byExtendedName[q.name]) == 0 {
			continue
		}
		if !r.integer(i, q, found) {
			continue
		}
		key, ok := r.quotaKey(i, q.name, []extendedRequest{q}, found)
		r.replace(i, q.name, q.quantity)
		if !ok {
			continue
		}
		names[key] = append(names[key], q)
		q.name = key
		mapped = append(mapped, q)
	}
	totals := aggregate(mapped, func(q extendedRequest) corev1.ResourceName { return q.name })
	for _, key := range slices.Sorted(maps.Keys(totals)) {
		of := names[key]
		r.addExtended(i, of[0].name, key, totals[key], of)
	}
}

// asPodRequests adds up as the scheduler does for a pod: sidecars run beside the main containers and are added to them.
func (r *run) asPodRequests(i int, requests []extendedRequest) map[corev1.ResourceName]resource.Quantity {
	var pod corev1.Pod
	for _, c := range r.pods[i].Spec.InitContainers {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{RestartPolicy: c.RestartPolicy})
	}
	pod.Spec.Containers = make([]corev1.Container, len(r.pods[i].Spec.Containers))
	for _, q := range requests {
		of := pod.Spec.Containers
		if q.init {
			of = pod.Spec.InitContainers
		}
		if of[q.index].Resources.Requests == nil {
			of[q.index].Resources.Requests = corev1.ResourceList{}
		}
		of[q.index].Resources.Requests[q.name] = q.quantity
	}
	return resourcehelper.PodRequests(&pod, resourcehelper.PodResourcesOptions{})
}

// aggregate sums main containers and takes the maximum over init containers, each container's equal
// keys summed, and the larger of both per key.
func aggregate(requests []extendedRequest,
	key func(extendedRequest) corev1.ResourceName) map[corev1.ResourceName]resource.Quantity {
	type slot struct {
		init bool
		at   int
		key  corev1.ResourceName
	}
	perContainer := map[slot]resource.Quantity{}
	var order []slot
	for _, q := range requests {
		s := slot{q.init, q.index, key(q)}
		sum, seen := perContainer[s]
		if !seen {
			order = append(order, s)
		}
		sum.Add(q.quantity)
		perContainer[s] = sum
	}
	initial, regular := map[corev1.ResourceName]resource.Quantity{}, map[corev1.ResourceName]resource.Quantity{}
	for _, s := range order {
		q := perContainer[s]
		if !s.init {
			sum := regular[s.key]
			sum.Add(q)
			regular[s.key] = sum
			continue
		}
		if most, ok := initial[s.key]; !ok || q.Cmp(most) > 0 {
			initial[s.key] = q
		}
	}
	for name, q := range initial {
		if sum, ok := regular[name]; !ok || q.Cmp(sum) > 0 {
			regular[name] = q
		}
	}
	return regular
}

// canonical is a quantity as the API server stores it, and Kueue reads it: 2000m is 2, a whole number.
func canonical(q resource.Quantity) resource.Quantity {
	if c, err := resource.ParseQuantity(q.String()); err == nil {
		return c
	}
	return q
}

// integer holds one container's quantity to the rule that devices come whole.
func (r *run) integer(i int, q extendedRequest, found *extendedErrors) bool {
	if _, ok := q.quantity.AsInt64(); ok {
		return true
	}
	found.add(CodeFractionalExtended,
		field.Invalid(q.path(i).Child("resources", "requests", string(q.name)), q.quantity.String(),
			message.Of(message.FractionalExtended).Text()),
		fmt.Sprintf("%s is requested in a fraction (%s), but devices come whole", q.name,
			q.quantity.String()), r.containerEvidence(i, q))
	return false
}

func (r *run) containerEvidence(i int, q extendedRequest) Evidence {
	return r.at(i, fmt.Sprintf("spec.%s[%d].resources.requests[%q]", q.segment(), q.index, q.name), q.quantity.String())
}

// replace takes an amount of an extended resource out of the ordinary requests of pod set i.
func (r *run) replace(i int, name corev1.ResourceName, amount resource.Quantity) {
	if r.sets[i].replaced == nil {
		r.sets[i].replaced = map[corev1.ResourceName]resource.Quantity{}
	}
	r.sets[i].replaced[name] = amount
}

func (r *run) addExtended(i int, name, key corev1.ResourceName, total resource.Quantity, of []extendedRequest) {
	class := ""
	if c := r.e.chosenClass(name); c != nil {
		class = c.Ref.Name
	}
	evidence := []Evidence{}
	var asked []string
	for _, q := range of {
		evidence = append(evidence, r.containerEvidence(i, q))
		if !slices.Contains(asked, string(q.name)) {
			asked = append(asked, string(q.name))
		}
	}
	for _, o := range r.e.byExtendedName[name] {
		if o.Ref.Name == class {
			evidence = append(evidence, object(o, "spec.extendedResourceName", string(name)))
		}
	}
	steps := []string{"extended resource " + strings.Join(asked, ", "), "class " + class}
	if key != name {
		steps = append(steps, "mapped to "+string(key))
		evidence = append(evidence, r.mappingEvidence(class, key))
	}
	n, _ := total.AsInt64()
	r.add(i, draLine{resource: key, quantity: total, method: ExtendedResource, derivation: append(steps, devices(n)),
		evidence: evidence})
}
