package cluster

import "k8s.io/apimachinery/pkg/runtime/schema"

// The kinds the program reads.
var (
	Namespace             = gk("", "Namespace")
	ConfigMap             = gk("", "ConfigMap")
	Pod                   = gk("", "Pod")
	LimitRange            = gk("", "LimitRange")
	Node                  = gk("", "Node")
	Event                 = gk("", "Event")
	Deployment            = gk("apps", "Deployment")
	ReplicaSet            = gk("apps", "ReplicaSet")
	StatefulSet           = gk("apps", "StatefulSet")
	Job                   = gk("batch", "Job")
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

	JobSet                 = gk("jobset.x-k8s.io", "JobSet")
	LeaderWorkerSet        = gk("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
	MPIJob                 = gk("kubeflow.org", "MPIJob")
	PyTorchJob             = gk("kubeflow.org", "PyTorchJob")
	TFJob                  = gk("kubeflow.org", "TFJob")
	XGBoostJob             = gk("kubeflow.org", "XGBoostJob")
	PaddleJob              = gk("kubeflow.org", "PaddleJob")
	JAXJob                 = gk("kubeflow.org", "JAXJob")
	TrainJob               = gk("trainer.kubeflow.org", "TrainJob")
	TrainingRuntime        = gk("trainer.kubeflow.org", "TrainingRuntime")
	ClusterTrainingRuntime = gk("trainer.kubeflow.org", "ClusterTrainingRuntime")
	RayCluster             = gk("ray.io", "RayCluster")
	RayJob                 = gk("ray.io", "RayJob")
	RayService             = gk("ray.io", "RayService")
	AppWrapper             = gk("workload.codeflare.dev", "AppWrapper")
	SparkApplication       = gk("sparkoperator.k8s.io", "SparkApplication")
)

func gk(group, kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }
