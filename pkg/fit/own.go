package fit

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// own finds the pods of a workload that has quota or needs none: some may run already and hold their devices. It is
// false when they can't be found.
func (k *check) own() bool {
	why := "the workload has quota, so that its pods may hold devices already"
	if k.w.Object == nil || k.w.Object.Status.Admission == nil {
		if k.w.State != workload.Unmanaged || k.w.Owner == nil || k.w.Owner.Laid {
			return true
		}
		why = "Kueue does not hold the job back, so that its pods may hold devices already"
	}
	if !k.snap.Coverage.HasIn(cluster.Pod, k.w.Namespace) {
		k.lacks(cluster.Pod.Kind)
		k.why = why
		return false
	}
	for o, pod := range cluster.All[*corev1.Pod](k.snap, cluster.Pod) {
		if o.Ref.Namespace != k.w.Namespace || pod.Status.Phase == corev1.PodSucceeded ||
			pod.Status.Phase == corev1.PodFailed || !k.belongs(o) {
			continue
		}
		if ps := k.setOf(pod); ps != nil && ps.holding < ps.count && k.holdsAll(pod) {
			ps.holding++
		}
	}
	return true
}

// belongs tells that a pod is one of the workload's: the workload, its job or one of its pods is the pod or above it.
func (k *check) belongs(o *cluster.Object) bool {
	for _, m := range k.w.Members {
		if m.Ref == o.Ref {
			return true
		}
	}
	current := o
	for range 10 {
		if k.w.Owner != nil && current.Ref == k.w.Owner.Ref {
			return true
		}
		ref := metav1.GetControllerOfNoCopy(current.Meta)
		if ref == nil {
			return false
		}
		if k.ownedBy(ref.UID, ref.Kind, ref.Name) {
			return true
		}
		if current = k.snap.ByUID(ref.UID); current == nil {
			return false
		}
	}
	return false
}

func (k *check) ownedBy(uid types.UID, kind, name string) bool {
	if k.w.Owner != nil && k.w.Owner.Meta != nil && k.w.Owner.Meta.UID != "" {
		return uid == k.w.Owner.Meta.UID
	}
	return kind == k.w.OwnerRef.Kind && name == k.w.OwnerRef.Name
}

// podSetLabel is what Kueue writes on pods to tell their pod set.
const podSetLabel = "kueue.x-k8s.io/podset"

// setOf is the pod set of a pod: by its label, else the one whose claims it has.
func (k *check) setOf(pod *corev1.Pod) *podSet {
	label := pod.Labels[podSetLabel]
	for _, ps := range k.sets {
		if ps.asksNothing() {
			continue
		}
		if label == ps.Name || label == "" && (len(k.sets) == 1 || sameClaims(&ps.Template.Spec, &pod.Spec)) {
			return ps
		}
	}
	return nil
}

func sameClaims(a, b *corev1.PodSpec) bool {
	if len(a.ResourceClaims) != len(b.ResourceClaims) || len(a.ResourceClaims) == 0 {
		return false
	}
	for i := range a.ResourceClaims {
		x, y := a.ResourceClaims[i], b.ResourceClaims[i]
		if x.Name != y.Name || !sameText(x.ResourceClaimName, y.ResourceClaimName) ||
			!sameText(x.ResourceClaimTemplateName, y.ResourceClaimTemplateName) {
			return false
		}
	}
	return true
}

func sameText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// holdsAll tells that all claims of a pod are allocated.
func (k *check) holdsAll(pod *corev1.Pod) bool {
	names := map[string]string{} // of the claims, by the pod's names for them
	for _, c := range pod.Spec.ResourceClaims {
		names[c.Name] = ""
		if c.ResourceClaimName != nil {
			names[c.Name] = *c.ResourceClaimName
		}
	}
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.ResourceClaimName != nil {
			names[s.Name] = *s.ResourceClaimName
		}
	}
	if s := pod.Status.ExtendedResourceClaimStatus; s != nil {
		names["/"+s.ResourceClaimName] = s.ResourceClaimName
	}
	for _, name := range names {
		claim, _, ok := cluster.Lookup[*resourcev1.ResourceClaim](k.snap, cluster.ResourceClaim, pod.Namespace, name)
		if !ok || claim.Status.Allocation == nil {
			return false
		}
	}
	return len(names) > 0 || pod.Spec.NodeName != ""
}
