package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// ask is one claim of each pod of a pod set.
type ask struct {
	// name by which the pod knows it; of an extended resource that of the resource.
	name string
	// claim to be allocated: made from the template, the object itself, or made up for an extended resource.
	claim *resourcev1.ResourceClaim
	// shared tells that all pods use the one object.
	shared bool
	// extended is the resource that the claim stands for.
	extended corev1.ResourceName
}

// asks are the claims of the pods of a pod set.
type asks struct {
	list []*ask
	// refused is why no such pod is ever scheduled.
	refused *Reason
	// missing are kinds that are not in the input, without which the claims are not known.
	missing []string
}

// asksOf reads the claims of a pod set: those of its claims and templates, and one for its extended resources that
// device classes stand for.
func (c *Checker) asksOf(w *workload.Workload, ps *workload.PodSet) asks {
	var out asks
	spec := &ps.Template.Spec
	for i := range spec.ResourceClaims {
		c.podClaim(&out, w.Namespace, &spec.ResourceClaims[i])
	}
	c.extendedClaim(&out, w.Namespace, spec)
	for _, a := range out.list {
		c.checkClasses(&out, a)
	}
	return out
}

func (out *asks) lacks(kind string) {
	if !slices.Contains(out.missing, kind) {
		out.missing = append(out.missing, kind)
	}
}

func (out *asks) refuse(claim, text string) {
	if out.refused == nil {
		out.refused = &Reason{Code: ObjectMissing, Claim: claim, Text: text}
	}
}

// podClaim finds the claim, or the template it is made from.
func (c *Checker) podClaim(out *asks, namespace string, pc *corev1.PodResourceClaim) {
	gk, name := cluster.ResourceClaim, pc.ResourceClaimName
	if name == nil {
		gk, name = cluster.ResourceClaimTemplate, pc.ResourceClaimTemplateName
	}
	if name == nil {
		out.refuse(pc.Name, fmt.Sprintf("claim %s names neither a ResourceClaim nor a template", pc.Name))
		return
	}
	a := &ask{name: pc.Name, shared: gk == cluster.ResourceClaim}
	switch o := c.snap.Get(gk, namespace, *name); {
	case o == nil && !c.snap.Coverage.HasIn(gk, namespace):
		out.lacks(gk.Kind)
		return
	case o == nil:
		out.refuse(pc.Name, fmt.Sprintf("%s %s/%s does not exist", gk.Kind, namespace, *name))
		return
	case a.shared:
		a.claim = cluster.As[*resourcev1.ResourceClaim](o)
	default:
		template := cluster.As[*resourcev1.ResourceClaimTemplate](o)
		a.claim = newClaim(namespace, pc.Name, template.Spec.Spec)
	}
	out.list = append(out.list, a)
}

func newClaim(namespace, name string, spec resourcev1.ResourceClaimSpec) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
}

// extendedClaim makes a claim for each extended resource that a DeviceClass stands for, as the scheduler does for a
// node that has no device plugin for it. The scheduler makes one request for each container; what counts is their
// number.
func (c *Checker) extendedClaim(out *asks, namespace string, spec *corev1.PodSpec) {
	requests := resource.PodRequests(&corev1.Pod{Spec: *spec}, resource.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if !strings.Contains(string(name), "/") ||
			strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix) {
			continue
		}
		quantity := requests[name]
		class := c.extended.GetDeviceClass(name)
		if class == nil || quantity.Value() <= 0 {
			if class == nil && !c.snap.Coverage.Has(cluster.DeviceClass) {
				out.lacks(cluster.DeviceClass.Kind)
			}
			continue
		}
		exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name,
			AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: quantity.Value()}
		claim := newClaim(namespace, string(name), resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "devices", Exactly: exactly}},
		}})
		out.list = append(out.list, &ask{name: string(name), claim: claim, extended: name})
	}
}

// checkClasses looks for the device classes of a claim, and refuses requests that no API server lets pass.
func (c *Checker) checkClasses(out *asks, a *ask) {
	for _, r := range a.claim.Spec.Devices.Requests {
		if r.Exactly == nil && len(r.FirstAvailable) == 0 {
			out.refuse(a.name,
				fmt.Sprintf("request %s of claim %s has neither exactly nor firstAvailable", r.Name, a.name))
		}
	}
	for r := range requestsOf(a.claim) {
		if r.count < 0 {
			out.refuse(a.name, fmt.Sprintf("request %s of claim %s asks for %d devices", r.name, a.name, r.count))
		}
	}
	for r := range requestsOf(a.claim) {
		if c.snap.Get(cluster.DeviceClass, "", r.class) != nil {
			continue
		}
		if !c.snap.Coverage.Has(cluster.DeviceClass) {
			out.lacks(cluster.DeviceClass.Kind)
			continue
		}
		out.refuse(a.name,
			fmt.Sprintf("DeviceClass %s, which request %s of claim %s asks for, does not exist", r.class, r.name,
				a.name))
	}
}

// request is one request of a claim, or one alternative of it.
type request struct {
	name, class string
	// parent is the index of the request in the claim.
	parent      int
	alternative bool
	all         bool
	count       int64
	admin       bool
	selectors   []resourcev1.DeviceSelector
	tolerations []resourcev1.DeviceToleration
	capacity    *resourcev1.CapacityRequirements
}

// requestsOf yields the requests of a claim, of prioritized ones every alternative.
func requestsOf(claim *resourcev1.ResourceClaim) func(yield func(request) bool) {
	return func(yield func(request) bool) {
		for i := range claim.Spec.Devices.Requests {
			r := &claim.Spec.Devices.Requests[i]
			if x := r.Exactly; x != nil {
				if !yield(request{
					name: r.Name, class: x.DeviceClassName, parent: i,
					all: x.AllocationMode == resourcev1.DeviceAllocationModeAll, count: x.Count,
					admin: x.AdminAccess != nil &&
						*x.AdminAccess, selectors: x.Selectors, tolerations: x.Tolerations, capacity: x.Capacity,
				}) {
					return
				}
			}
			for _, x := range r.FirstAvailable {
				if !yield(request{
					name: r.Name + "/" +
						x.Name, class: x.DeviceClassName, parent: i, alternative: true,
					all:   x.AllocationMode == resourcev1.DeviceAllocationModeAll,
					count: x.Count, selectors: x.Selectors, tolerations: x.Tolerations, capacity: x.Capacity,
				}) {
					return
				}
			}
		}
	}
}
