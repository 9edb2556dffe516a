package rules

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func typeOf[T any]() func() any { return func() any { return new(T) } }

// documentTypes are the types of the documents whose fields are all known, by apiVersion and kind.
var documentTypes = map[string]func() any{
	"v1 Namespace":                                  typeOf[corev1.Namespace](),
	"v1 Pod":                                        typeOf[corev1.Pod](),
	"v1 LimitRange":                                 typeOf[corev1.LimitRange](),
	"batch/v1 Job":                                  typeOf[batchv1.Job](),
	"batch/v1 CronJob":                              typeOf[batchv1.CronJob](),
	"apps/v1 Deployment":                            typeOf[appsv1.Deployment](),
	"apps/v1 StatefulSet":                           typeOf[appsv1.StatefulSet](),
	"apps/v1 ReplicaSet":                            typeOf[appsv1.ReplicaSet](),
	"scheduling.k8s.io/v1 PriorityClass":            typeOf[schedulingv1.PriorityClass](),
	"resource.k8s.io/v1 DeviceClass":                typeOf[resourcev1.DeviceClass](),
	"resource.k8s.io/v1 ResourceSlice":              typeOf[resourcev1.ResourceSlice](),
	"resource.k8s.io/v1 ResourceClaim":              typeOf[resourcev1.ResourceClaim](),
	"resource.k8s.io/v1 ResourceClaimTemplate":      typeOf[resourcev1.ResourceClaimTemplate](),
	"resource.k8s.io/v1beta1 DeviceClass":           typeOf[resourcev1beta1.DeviceClass](),
	"resource.k8s.io/v1beta1 ResourceSlice":         typeOf[resourcev1beta1.ResourceSlice](),
	"resource.k8s.io/v1beta1 ResourceClaim":         typeOf[resourcev1beta1.ResourceClaim](),
	"resource.k8s.io/v1beta1 ResourceClaimTemplate": typeOf[resourcev1beta1.ResourceClaimTemplate](),
	"resource.k8s.io/v1beta2 DeviceClass":           typeOf[resourcev1beta2.DeviceClass](),
	"resource.k8s.io/v1beta2 ResourceSlice":         typeOf[resourcev1beta2.ResourceSlice](),
	"resource.k8s.io/v1beta2 ResourceClaim":         typeOf[resourcev1beta2.ResourceClaim](),
	"resource.k8s.io/v1beta2 ResourceClaimTemplate": typeOf[resourcev1beta2.ResourceClaimTemplate](),
	"kueue.x-k8s.io/v1beta1 ClusterQueue":           typeOf[kueuev1beta1.ClusterQueue](),
	"kueue.x-k8s.io/v1beta1 LocalQueue":             typeOf[kueuev1beta1.LocalQueue](),
	"kueue.x-k8s.io/v1beta1 ResourceFlavor":         typeOf[kueuev1beta1.ResourceFlavor](),
	"kueue.x-k8s.io/v1beta1 Cohort":                 typeOf[kueuev1beta1.Cohort](),
	"kueue.x-k8s.io/v1beta1 AdmissionCheck":         typeOf[kueuev1beta1.AdmissionCheck](),
	"kueue.x-k8s.io/v1beta1 Topology":               typeOf[kueuev1beta1.Topology](),
	"kueue.x-k8s.io/v1beta1 Workload":               typeOf[kueuev1beta1.Workload](),
	"kueue.x-k8s.io/v1beta1 WorkloadPriorityClass":  typeOf[kueuev1beta1.WorkloadPriorityClass](),
	"kueue.x-k8s.io/v1beta2 ClusterQueue":           typeOf[kueuev1beta2.ClusterQueue](),
	"kueue.x-k8s.io/v1beta2 LocalQueue":             typeOf[kueuev1beta2.LocalQueue](),
	"kueue.x-k8s.io/v1beta2 ResourceFlavor":         typeOf[kueuev1beta2.ResourceFlavor](),
	"kueue.x-k8s.io/v1beta2 Cohort":                 typeOf[kueuev1beta2.Cohort](),
	"kueue.x-k8s.io/v1beta2 AdmissionCheck":         typeOf[kueuev1beta2.AdmissionCheck](),
	"kueue.x-k8s.io/v1beta2 Topology":               typeOf[kueuev1beta2.Topology](),
	"kueue.x-k8s.io/v1beta2 Workload":               typeOf[kueuev1beta2.Workload](),
	"kueue.x-k8s.io/v1beta2 WorkloadPriorityClass":  typeOf[kueuev1beta2.WorkloadPriorityClass](),
}
