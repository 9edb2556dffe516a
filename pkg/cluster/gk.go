package cluster

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// The kinds the program reads.
var (
	Namespace             = gk("", "Namespace")
	ConfigMap             = gk("", "ConfigMap")
	Pod                   = jobs.Pod.GroupKind
	LimitRange            = gk("", "LimitRange")
	Node                  = gk("", "Node")
	Event                 = gk("", "Event")
	Deployment            = jobs.Deployment.GroupKind
	ReplicaSet            = gk("apps", "ReplicaSet")
	StatefulSet           = jobs.StatefulSet.GroupKind
	Job                   = jobs.Job.GroupKind
	CronJob               = gk("batch", "CronJob")
	RuntimeClass          = gk("node.k8s.io", "RuntimeClass")
	PriorityClass         = gk("scheduling.k8s.io", "PriorityClass")
	DeviceClass           = gk("resource.k8s.io", "DeviceClass")
	ResourceSlice         = gk("resource.k8s.io", "ResourceSlice")
	ResourceClaim         = gk("resource.k8s.io", "ResourceClaim")
	ResourceClaimTemplate = gk("resource.k8s.io", "ResourceClaimTemplate")
	DeviceTaintRule       = gk("resource.k8s.io", "DeviceTaintRule")

	Workload              = gk("kueue.x-k8s.io", "Workload")
	ClusterQueue          = gk("kueue.x-k8s.io", "ClusterQueue")
	LocalQueue            = gk("kueue.x-k8s.io", "LocalQueue")
	ResourceFlavor        = gk("kueue.x-k8s.io", "ResourceFlavor")
	Cohort                = gk("kueue.x-k8s.io", "Cohort")
	AdmissionCheck        = gk("kueue.x-k8s.io", "AdmissionCheck")
	WorkloadPriorityClass = gk("kueue.x-k8s.io", "WorkloadPriorityClass")
	Topology              = gk("kueue.x-k8s.io", "Topology")

	// KueueConfiguration is the manager's configuration file, not an API object.
	KueueConfiguration = gk("config.kueue.x-k8s.io", "Configuration")
	// OpenShiftKueue is the custom resource of the Red Hat build of Kueue.
	OpenShiftKueue = gk("kueue.openshift.io", "Kueue")
	// OpenShiftFeatureGate is the cluster-wide feature gate resource of OpenShift.
	OpenShiftFeatureGate = gk("config.openshift.io", "FeatureGate")

	JobSet                 = jobs.JobSet.GroupKind
	LeaderWorkerSet        = jobs.LeaderWorkerSet.GroupKind
	MPIJob                 = jobs.MPIJob.GroupKind
	PyTorchJob             = jobs.PyTorchJob.GroupKind
	TFJob                  = jobs.TFJob.GroupKind
	XGBoostJob             = jobs.XGBoostJob.GroupKind
	PaddleJob              = jobs.PaddleJob.GroupKind
	JAXJob                 = jobs.JAXJob.GroupKind
	TrainJob               = jobs.TrainJob.GroupKind
	TrainingRuntime        = gk("trainer.kubeflow.org", "TrainingRuntime")
	ClusterTrainingRuntime = gk("trainer.kubeflow.org", "ClusterTrainingRuntime")
	RayCluster             = jobs.RayCluster.GroupKind
	RayJob                 = jobs.RayJob.GroupKind
	RayService             = jobs.RayService.GroupKind
	AppWrapper             = jobs.AppWrapper.GroupKind
	SparkApplication       = jobs.SparkApplication.GroupKind
)

func gk(group, kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }
