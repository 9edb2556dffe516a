package contest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// simplifications are copies of an object, each with one thing less.
func simplifications(object client.Object) []client.Object {
	var simpler []client.Object
	switch typed := object.(type) {
	case *kueue.Workload:
		simpler = apply(typed, workloadEdits(typed))
	case *kueue.ClusterQueue:
		simpler = apply(typed,
			append(queueEdits(),
				groupEdits(typed.Spec.ResourceGroups,
					func(q *kueue.ClusterQueue) *[]kueue.ResourceGroup { return &q.Spec.ResourceGroups })...))
	case *kueue.Cohort:
		simpler = apply(typed,
			append(cohortEdits(),
				groupEdits(typed.Spec.ResourceGroups,
					func(q *kueue.Cohort) *[]kueue.ResourceGroup { return &q.Spec.ResourceGroups })...))
	case *kueue.ResourceFlavor:
		simpler = apply(typed, flavorEdits())
	}
	return simpler
}

func apply[T client.Object](object T, edits []func(T) bool) []client.Object {
	var simpler []client.Object
	for _, edit := range edits {
		if made := edited(object, edit); made != nil {
			simpler = append(simpler, made)
		}
	}
	return simpler
}

// clear sets a field to its zero value and says whether it had another.
func clear[T any](field *T, isZero bool) bool {
	var zero T
	*field = zero
	return !isZero
}

func workloadEdits(wl *kueue.Workload) []func(*kueue.Workload) bool {
	edits := []func(*kueue.Workload) bool{
		func(wl *kueue.Workload) bool {
			return clear(&wl.Status.ReclaimablePods, wl.Status.ReclaimablePods == nil)
		},
		func(wl *kueue.Workload) bool {
			was := *wl.Spec.Priority
			*wl.Spec.Priority = 0
			return was != 0
		},
	}
	for i := range wl.Spec.PodSets {
		edits = append(edits, podSetEdits(wl, i)...)
	}
	return edits
}

func podSetEdits(wl *kueue.Workload, i int) []func(*kueue.Workload) bool {
	pod := func(wl *kueue.Workload) *corev1.PodSpec { return &wl.Spec.PodSets[i].Template.Spec }
	edits := []func(*kueue.Workload) bool{
		func(wl *kueue.Workload) bool {
			if len(wl.Spec.PodSets) == 1 {
				return false
			}
			wl.Spec.PodSets = slices.Delete(wl.Spec.PodSets, i, i+1)
			if admission := wl.Status.Admission; admission != nil {
				admission.PodSetAssignments = slices.Delete(admission.PodSetAssignments, i, i+1)
			}
			return true
		},
		func(wl *kueue.Workload) bool {
			return clear(&wl.Spec.PodSets[i].MinCount, wl.Spec.PodSets[i].MinCount == nil)
		},
		func(wl *kueue.Workload) bool { return clear(&pod(wl).NodeSelector, pod(wl).NodeSelector == nil) },
		func(wl *kueue.Workload) bool { return clear(&pod(wl).Affinity, pod(wl).Affinity == nil) },
		func(wl *kueue.Workload) bool { return clear(&pod(wl).Tolerations, pod(wl).Tolerations == nil) },
	}
	for name := range wl.Spec.PodSets[i].Template.Spec.Containers[0].Resources.Requests {
		edits = append(edits, func(wl *kueue.Workload) bool {
			delete(pod(wl).Containers[0].Resources.Requests, name)
			if admission := wl.Status.Admission; admission != nil {
				delete(admission.PodSetAssignments[i].Flavors, name)
				delete(admission.PodSetAssignments[i].ResourceUsage, name)
			}
			return true
		})
	}
	return edits
}

func queueEdits() []func(*kueue.ClusterQueue) bool {
	return []func(*kueue.ClusterQueue) bool{
		func(q *kueue.ClusterQueue) bool { return clear(&q.Spec.FairSharing, q.Spec.FairSharing == nil) },
		func(q *kueue.ClusterQueue) bool {
			was := q.Spec.QueueingStrategy
			q.Spec.QueueingStrategy = kueue.BestEffortFIFO
			return was != kueue.BestEffortFIFO
		},
		func(q *kueue.ClusterQueue) bool {
			was := q.Spec.Preemption.BorrowWithinCohort.Policy
			q.Spec.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever}
			return was != kueue.BorrowWithinCohortPolicyNever
		},
		func(q *kueue.ClusterQueue) bool {
			was := q.Spec.Preemption.WithinClusterQueue
			q.Spec.Preemption.WithinClusterQueue = kueue.PreemptionPolicyNever
			return was != kueue.PreemptionPolicyNever
		},
		func(q *kueue.ClusterQueue) bool {
			was := q.Spec.Preemption.ReclaimWithinCohort
			q.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicyNever
			return was != kueue.PreemptionPolicyNever &&
				q.Spec.Preemption.BorrowWithinCohort.Policy == kueue.BorrowWithinCohortPolicyNever
		},
		func(q *kueue.ClusterQueue) bool {
			was := *q.Spec.FlavorFungibility
			q.Spec.FlavorFungibility = &kueue.FlavorFungibility{WhenCanBorrow: kueue.MayStopSearch,
				WhenCanPreempt: kueue.TryNextFlavor}
			return was.WhenCanBorrow != kueue.MayStopSearch || was.WhenCanPreempt != kueue.TryNextFlavor
		},
		func(q *kueue.ClusterQueue) bool {
			was := q.Spec.NamespaceSelector.MatchLabels
			q.Spec.NamespaceSelector = &metav1.LabelSelector{}
			return was != nil
		},
	}
}

func cohortEdits() []func(*kueue.Cohort) bool {
	return []func(*kueue.Cohort) bool{
		func(c *kueue.Cohort) bool { return clear(&c.Spec.FairSharing, c.Spec.FairSharing == nil) },
		func(c *kueue.Cohort) bool { return clear(&c.Spec.ResourceGroups, c.Spec.ResourceGroups == nil) },
	}
}

func flavorEdits() []func(*kueue.ResourceFlavor) bool {
	return []func(*kueue.ResourceFlavor) bool{
		func(f *kueue.ResourceFlavor) bool { return clear(&f.Spec.NodeLabels, f.Spec.NodeLabels == nil) },
		func(f *kueue.ResourceFlavor) bool { return clear(&f.Spec.NodeTaints, f.Spec.NodeTaints == nil) },
		func(f *kueue.ResourceFlavor) bool { return clear(&f.Spec.Tolerations, f.Spec.Tolerations == nil) },
	}
}

// groupEdits take away flavors, and limits of single resources.
func groupEdits[T any](groups []kueue.ResourceGroup, of func(T) *[]kueue.ResourceGroup) []func(T) bool {
	var edits []func(T) bool
	for g := range groups {
		edits = append(edits, func(object T) bool {
			if len(*of(object)) == 1 {
				return false
			}
			*of(object) = slices.Delete(*of(object), g, g+1)
			return true
		})
		for f := range groups[g].Flavors {
			edits = append(edits, func(object T) bool {
				flavors := &(*of(object))[g].Flavors
				if len(*flavors) == 1 {
					return false
				}
				*flavors = slices.Delete(*flavors, f, f+1)
				return true
			})
			for r := range groups[g].Flavors[f].Resources {
				edits = append(edits,
					func(object T) bool {
						quota := &(*of(object))[g].Flavors[f].Resources[r]
						return clear(&quota.BorrowingLimit, quota.BorrowingLimit == nil)
					},
					func(object T) bool {
						quota := &(*of(object))[g].Flavors[f].Resources[r]
						return clear(&quota.LendingLimit, quota.LendingLimit == nil)
					})
			}
		}
		for r := range groups[g].CoveredResources {
			edits = append(edits, func(object T) bool {
				group := &(*of(object))[g]
				if len(group.CoveredResources) == 1 {
					return false
				}
				group.CoveredResources = slices.Delete(slices.Clone(group.CoveredResources), r, r+1)
				for f := range group.Flavors {
					group.Flavors[f].Resources = slices.Delete(slices.Clone(group.Flavors[f].Resources), r, r+1)
				}
				return true
			})
		}
	}
	return edits
}
