package audit

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

const (
	notKueues   = "no workload of Kueue's owns the pod"
	noQuotaHeld = "its workload holds no quota"
)

// uncounted lists the devices in use that no quota counts: of claims, of pods with devices of plugins, and, where the
// pods are not in the input, of jobs that run.
func (b *builder) uncounted(users *consumers) {
	found := map[Uncounted]int64{}
	for i := range b.claims {
		b.uncountedClaim(&b.claims[i], found)
	}
	for o, pod := range cluster.All[*corev1.Pod](b.snap, cluster.Pod) {
		if running(pod) {
			b.uncountedPod(o, pod, users, found)
		}
	}
	if !b.snap.Coverage.Has(cluster.Pod) {
		b.uncountedJobs(found)
	}
	for u, n := range found {
		u.Devices = n
		b.out.Uncounted = append(b.out.Uncounted, u)
	}
	slices.SortFunc(b.out.Uncounted, func(x, y Uncounted) int {
		return cmp.Or(x.Object.Compare(y.Object), cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.Why, y.Why))
	})
}

func (b *builder) uncountedClaim(a *allocation, found map[Uncounted]int64) {
	u := Uncounted{Object: a.claim.Ref, Claim: true, Resource: a.resource, Class: a.class}
	if a.user.pod != nil {
		u.Object = a.user.pod.Ref
	}
	switch {
	case a.user.unsure:
		b.lacks(ColumnUncounted, "", "owners of pods with claims are not in the input", cluster.Pod.Kind)
		return
	case a.user.pod == nil:
		u.Why = "it is reserved for no pod"
	case a.user.charge == nil:
		u.Why = notKueues
	case b.hidden(a.user.charge):
		return
	case b.held[a.user.charge] == nil:
		u.Why = noQuotaHeld
	default:
		u.Why = a.uncounted()
	}
	if u.Why != "" {
		found[u]++
	}
}

// hidden tells that a workload may hold quota that the input does not show.
func (b *builder) hidden(c *charge.Charge) bool {
	switch w := c.Workload.Object; {
	case b.held[c] != nil:
		return false
	case b.trees.Usage != admission.FromWorkloads:
		b.lacks(ColumnUncounted, "", "", cluster.Workload.Kind)
		return true
	case w != nil && w.Status.Admission != nil && b.nodes[string(w.Status.Admission.ClusterQueue)] == nil:
		b.lacks(ColumnUncounted, "", "", cluster.ClusterQueue.Kind)
		return true
	}
	return false
}

func (b *builder) uncountedPod(o *cluster.Object, pod *corev1.Pod, users *consumers, found map[Uncounted]int64) {
	devices := pluginDevices(pod)
	if len(devices) == 0 {
		return
	}
	user := users.ofPod(o)
	why := ""
	switch r := b.held[user.charge]; {
	case user.unsure:
		b.lacks(ColumnUncounted, "", "owners of pods with devices are not in the input")
		return
	case user.charge == nil:
		why = notKueues
	case b.hidden(user.charge):
		return
	case r == nil:
		why = noQuotaHeld
	default:
		for fr, v := range r.Usage {
			if OfDevices(fr.Resource) && v > 0 {
				return
			}
		}
		why = "its workload is charged for no devices"
	}
	for name, n := range devices {
		found[Uncounted{Object: o.Ref, Resource: name, Why: why}] += n
	}
}

// pluginDevices are the devices that a pod has from device plugins: extended resources that no claim stands for.
func pluginDevices(pod *corev1.Pod) map[corev1.ResourceName]int64 {
	claimed := map[corev1.ResourceName]bool{}
	if s := pod.Status.ExtendedResourceClaimStatus; s != nil {
		for _, m := range s.RequestMappings {
			claimed[corev1.ResourceName(m.ResourceName)] = true
		}
	}
	return extended(&pod.Spec, claimed)
}

func extended(spec *corev1.PodSpec, but map[corev1.ResourceName]bool) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{}
	requests := resourcehelper.PodRequests(&corev1.Pod{Spec: *spec}, resourcehelper.PodResourcesOptions{})
	for name, q := range requests {
		if strings.Contains(string(name), "/") && OfDevices(name) && !but[name] && q.Sign() > 0 {
			out[name] = q.Value()
		}
	}
	return out
}

// uncountedJobs are jobs that Kueue does not manage and that run pods which ask for devices.
func (b *builder) uncountedJobs(found map[Uncounted]int64) {
	for _, c := range b.Charges() {
		w := c.Workload
		job := cluster.As[*batchv1.Job](w.Owner)
		if c.Verdict != charge.Unmanaged || w.State != workload.Unmanaged || job == nil || job.Status.Active == 0 {
			continue
		}
		spec := withRequests(&job.Spec.Template.Spec)
		u := Uncounted{Object: w.Owner.Ref, Why: "Kueue does not manage the job"}
		for name, n := range extended(spec, nil) {
			u.Resource = name
			found[u] += n * int64(job.Status.Active)
		}
		for class, n := range b.claimed(w.Namespace, spec) {
			u.Claim, u.Class = true, class
			u.Resource, _ = b.conf.Lookup(class)
			found[u] += n * int64(job.Status.Active)
		}
	}
}

// withRequests is what the pods of a template ask for: the API server makes a request of a limit that has none.
func withRequests(spec *corev1.PodSpec) *corev1.PodSpec {
	spec = spec.DeepCopy()
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, q := range r.Limits {
				if _, asked := r.Requests[name]; !asked {
					if r.Requests == nil {
						r.Requests = corev1.ResourceList{}
					}
					r.Requests[name] = q
				}
			}
		}
	}
	return spec
}

// claimed counts the devices that the claim templates of a pod ask for, by class.
func (b *builder) claimed(namespace string, spec *corev1.PodSpec) map[string]int64 {
	out := map[string]int64{}
	for _, c := range spec.ResourceClaims {
		if c.ResourceClaimTemplateName == nil {
			continue
		}
		t, _, ok := cluster.Lookup[*resourcev1.ResourceClaimTemplate](b.snap, cluster.ResourceClaimTemplate, namespace,
			*c.ResourceClaimTemplateName)
		if !ok {
			continue
		}
		for _, r := range t.Spec.Spec.Devices.Requests {
			if r.Exactly != nil && r.Exactly.AllocationMode != resourcev1.DeviceAllocationModeAll {
				out[r.Exactly.DeviceClassName] += max(1, r.Exactly.Count)
			}
		}
	}
	return out
}
