package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
)

// setDefaults completes an object as the API server (or the CRD's schema) does. Objects that were
// stored by a server have all of these already, so it is safe for every object.
func setDefaults(typed any) {
	switch o := typed.(type) {
	case *batchv1.Job:
		defaultJob(&o.Spec)
	case *appsv1.Deployment:
		o.Spec.Replicas = orDefault(o.Spec.Replicas, 1)
	case *appsv1.StatefulSet:
		o.Spec.Replicas = orDefault(o.Spec.Replicas, 1)
	case *corev1.Pod:
		DefaultPodResources(&o.Spec)
	case *resourcev1.ResourceClaimTemplate:
		defaultDeviceRequests(&o.Spec.Spec)
	case *resourcev1.ResourceClaim:
		defaultDeviceRequests(&o.Spec)
	case *kueue.Workload:
		defaultWorkload(o)
	case *kueue.ClusterQueue:
		defaultClusterQueue(&o.Spec)
	default:
		crd.Default(typed)
	}
}

func orDefault(p *int32, d int32) *int32 {
	if p == nil {
		return ptr.To(d)
	}
	return p
}

// defaultJob follows batch/v1: one completion when neither number is given, and one pod at a time.
func defaultJob(s *batchv1.JobSpec) {
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions = ptr.To[int32](1)
	}
	s.Parallelism = orDefault(s.Parallelism, 1)
}

// DefaultPodResources gives a Pod's containers the requests that the API server derives from their
// limits. It holds for Pods only: pod templates are not completed this way.
func DefaultPodResources(s *corev1.PodSpec) {
	for _, containers := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, limit := range r.Limits {
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				if _, ok := r.Requests[name]; !ok {
					r.Requests[name] = limit
				}
			}
		}
	}
	defaultPodLevel(s)
}

// defaultPodLevel follows the API server's defaulting of a Pod's own spec.resources: a missing request
// is the containers' sum, else the pod's limit.
func defaultPodLevel(s *corev1.PodSpec) {
	if s.Resources == nil {
		return
	}
	pod := &corev1.Pod{Spec: *s}
	requests := corev1.ResourceList{}
	for name, q := range s.Resources.Requests {
		requests[name] = q
	}
	for _, from := range []corev1.ResourceList{
		resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}),
		s.Resources.Limits,
	} {
		for name, q := range from {
			if _, ok := requests[name]; !ok && resourcehelper.IsSupportedPodLevelResource(name) {
				requests[name] = q
			}
		}
	}
	if len(requests) > 0 {
		s.Resources.Requests = requests
	}
}

// defaultDeviceRequests follows resource.k8s.io/v1: exactly one device unless said otherwise.
func defaultDeviceRequests(s *resourcev1.ResourceClaimSpec) {
	for i := range s.Devices.Requests {
		r := &s.Devices.Requests[i]
		if e := r.Exactly; e != nil {
			e.AllocationMode, e.Count = defaultAllocation(e.AllocationMode, e.Count)
		}
		for j := range r.FirstAvailable {
			sub := &r.FirstAvailable[j]
			sub.AllocationMode, sub.Count = defaultAllocation(sub.AllocationMode, sub.Count)
		}
	}
}

func defaultAllocation(mode resourcev1.DeviceAllocationMode, count int64) (resourcev1.DeviceAllocationMode, int64) {
	if mode == "" {
		mode = resourcev1.DeviceAllocationModeExactCount
	}
	if mode == resourcev1.DeviceAllocationModeExactCount && count == 0 {
		count = 1
	}
	return mode, count
}

func defaultWorkload(w *kueue.Workload) {
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		if ps.Name == "" {
			ps.Name = kueue.DefaultPodSetName
		}
	}
	if w.Spec.Active == nil {
		w.Spec.Active = ptr.To(true)
	}
}

func defaultClusterQueue(s *kueue.ClusterQueueSpec) {
	if s.QueueingStrategy == "" {
		s.QueueingStrategy = kueue.BestEffortFIFO
	}
	if s.StopPolicy == nil {
		s.StopPolicy = ptr.To(kueue.None)
	}
}
