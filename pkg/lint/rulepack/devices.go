package rulepack

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// countDevices adds up the devices that the pods of a workload ask for. It returns the kind that is missing for it.
func countDevices(p *lint.Pass, w *workload.Workload, into map[string]int64) string {
	requester := workload.NewRequester(p.Snapshot, p.Config)
	for i := range w.PodSets {
		ps := &w.PodSets[i]
		if ps.Template == nil {
			continue
		}
		pods := int64(ps.Count)
		for _, claim := range ps.Template.Spec.ResourceClaims {
			switch {
			case claim.ResourceClaimTemplateName != nil:
				t, _, ok := cluster.Lookup[*resourcev1.ResourceClaimTemplate](p.Snapshot, cluster.ResourceClaimTemplate,
					w.Namespace, *claim.ResourceClaimTemplateName)
				if !ok && !p.Snapshot.Coverage.HasIn(cluster.ResourceClaimTemplate, w.Namespace) {
					return cluster.ResourceClaimTemplate.Kind
				}
				if ok {
					countRequests(t.Spec.Spec.Devices.Requests, pods, into)
				}
			case claim.ResourceClaimName != nil:
				// The pods share the claim.
				t, _, ok := cluster.Lookup[*resourcev1.ResourceClaim](p.Snapshot, cluster.ResourceClaim, w.Namespace,
					*claim.ResourceClaimName)
				if !ok && !p.Snapshot.Coverage.HasIn(cluster.ResourceClaim, w.Namespace) {
					return cluster.ResourceClaim.Kind
				}
				if ok {
					countRequests(t.Spec.Devices.Requests, 1, into)
				}
			}
		}
		for name, q := range resourcehelper.PodRequests(&corev1.Pod{Spec: *requester.PodSet(w.Namespace, ps).Spec},
			resourcehelper.PodResourcesOptions{}) {
			if device, ok := extendedResource(name); ok && q.Value() > 0 {
				into[device] = charge.Add(into[device], times(q.Value(), pods))
			}
		}
	}
	return ""
}

// implicitPrefix begins the extended resource name that every DeviceClass has.
const implicitPrefix = "deviceclass.resource.kubernetes.io/"

// extendedResource tells whether a resource is an extended one, and the name it counts under.
func extendedResource(name corev1.ResourceName) (string, bool) {
	if class, ok := strings.CutPrefix(string(name), implicitPrefix); ok {
		return class, true
	}
	domain, _, ok := strings.Cut(string(name), "/")
	return string(name), ok && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}

// countRequests adds the devices of requests. Of alternatives the largest number for a class counts.
func countRequests(requests []resourcev1.DeviceRequest, pods int64, into map[string]int64) {
	for i := range requests {
		r := &requests[i]
		if x := r.Exactly; x != nil && (x.AdminAccess == nil || !*x.AdminAccess) {
			into[x.DeviceClassName] = charge.Add(into[x.DeviceClassName], times(max(x.Count, 1), pods))
		}
		most := map[string]int64{}
		for _, s := range r.FirstAvailable {
			most[s.DeviceClassName] = max(most[s.DeviceClassName], s.Count, 1)
		}
		for class, n := range most {
			into[class] = charge.Add(into[class], times(n, pods))
		}
	}
}

// times multiplies what is not negative; what int64 can't hold is clamped.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
