package recorded

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// PodSet is one pod set of status.admission.
type PodSet struct {
	Name string
	// Count of pods it was admitted with; nil where the status does not tell.
	Count *int32
	// Flavors of resources, and Usage of all its pods.
	Flavors map[corev1.ResourceName]kueue.ResourceFlavorReference
	Usage   corev1.ResourceList
}

// HoldsQuota tells that a Workload has an admission; a Workload that is not there has none.
func HoldsQuota(w *kueue.Workload) bool { return w != nil && w.Status.Admission != nil }

// PodSets are those of status.admission, in its order; none without one.
func PodSets(w *kueue.Workload) iter.Seq[PodSet] {
	return func(yield func(PodSet) bool) {
		if !HoldsQuota(w) {
			return
		}
		for i := range w.Status.Admission.PodSetAssignments {
			a := &w.Status.Admission.PodSetAssignments[i]
			if !yield(PodSet{Name: string(a.Name), Count: a.Count, Flavors: a.Flavors, Usage: a.ResourceUsage}) {
				return
			}
		}
	}
}

// FlavorResource is what quota is counted by.
type FlavorResource struct {
	Flavor   string
	Resource corev1.ResourceName
}

// Held yields what the pod sets of a Workload hold, for each pod set, flavor and resource. Resources without flavor
// hold no quota. The order is arbitrary.
func Held(w *kueue.Workload) iter.Seq2[FlavorResource, resource.Quantity] {
	return func(yield func(FlavorResource, resource.Quantity) bool) {
		for ps := range PodSets(w) {
			for name, flavor := range ps.Flavors {
				if !yield(FlavorResource{string(flavor), name}, ps.Usage[name]) {
					return
				}
			}
		}
	}
}

// Total sums what all pod sets were charged, with and without flavor; nil without admission.
func Total(w *kueue.Workload) corev1.ResourceList {
	if !HoldsQuota(w) {
		return nil
	}
	sum := corev1.ResourceList{}
	for ps := range PodSets(w) {
		for name, q := range ps.Usage {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	return sum
}

// Pods is the count of pods that a pod set was admitted with; nil where the status does not tell.
func Pods(w *kueue.Workload, podSet string) *int32 {
	for ps := range PodSets(w) {
		if ps.Name == podSet && ps.Count != nil {
			return ps.Count
		}
	}
	return nil
}

// Charged is what a pod set was charged at admission, or else was found to request; nil where the status does not tell.
func Charged(w *kueue.Workload, podSet string) corev1.ResourceList {
	for ps := range PodSets(w) {
		if ps.Name == podSet {
			return ps.Usage
		}
	}
	for i := range w.Status.ResourceRequests {
		if string(w.Status.ResourceRequests[i].Name) == podSet {
			return w.Status.ResourceRequests[i].Resources
		}
	}
	return nil
}

// Reclaimable counts the pods of each pod set that have ended and free their share.
func Reclaimable(w *kueue.Workload) map[string]int32 {
	out := map[string]int32{}
	for _, r := range w.Status.ReclaimablePods {
		out[string(r.Name)] = r.Count
	}
	return out
}
