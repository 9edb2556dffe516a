package jobs

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// Kind is one kind of job that Kueue has an integration for.
type Kind struct {
	schema.GroupKind
	// Resource is the plural name in API paths.
	Resource string
	// Version is the API version Kueue's integration knows; owner references to others are not followed.
	Version string
	// Older are further API versions that can be read.
	Older []string
	// New makes an empty object of the kind.
	New func() metav1.ObjectMetaAccessor
	// Short are further names people type for it, besides the singular and the plural.
	Short []string
	// Framework is the name in integrations.frameworks, OpenShift the operator's name for it; empty where the operator
	// has none.
	Framework, OpenShift string
	// Gate must be on for the integration to run; empty for none.
	Gate string
	// ImpliesPod: enabling it enables the pod integration for its own pods.
	ImpliesPod bool
	// MultiKueue: it has a MultiKueue adapter.
	MultiKueue bool
	// OfPods: what Kueue charges is found in pods or what owns them, not in an object of the kind alone.
	OfPods bool
	// Private are fields, at any depth, that no charge depends on and that often hold secrets.
	Private []string
	// Kept are, for a private map, the entries that a charge depends on.
	Kept map[string][]string
}

// Versions are the API versions that can be read, newest first.
func (k *Kind) Versions() []string { return append([]string{k.Version}, k.Older...) }

// GroupVersionKind is the kind in the version Kueue's integration knows.
func (k *Kind) GroupVersionKind() schema.GroupVersionKind { return k.GroupKind.WithVersion(k.Version) }

// object makes the constructor of a type.
func object[T any, P interface {
	*T
	metav1.ObjectMetaAccessor
}]() metav1.ObjectMetaAccessor {
	return P(new(T))
}

func gk(group, kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }

// The kinds of jobs.
var (
	Job = &Kind{GroupKind: gk("batch", "Job"), Resource: "jobs", Version: "v1", New: object[batchv1.Job],
		Framework: "batch/job", OpenShift: "BatchJob", MultiKueue: true}
	JobSet = &Kind{GroupKind: gk("jobset.x-k8s.io", "JobSet"), Resource: "jobsets", Version: "v1alpha2",
		New:       object[crd.JobSet],
		Framework: "jobset.x-k8s.io/jobset", OpenShift: "JobSet", MultiKueue: true}
	MPIJob = &Kind{GroupKind: gk("kubeflow.org", "MPIJob"), Resource: "mpijobs", Version: "v2beta1",
		New:       object[crd.MPIJob],
		Framework: "kubeflow.org/mpijob", OpenShift: "MPIJob", MultiKueue: true}
	PyTorchJob = &Kind{GroupKind: gk("kubeflow.org", "PyTorchJob"), Resource: "pytorchjobs", Version: "v1",
		New:       object[crd.PyTorchJob],
		Framework: "kubeflow.org/pytorchjob", OpenShift: "PyTorchJob", MultiKueue: true}
	TFJob = &Kind{GroupKind: gk("kubeflow.org", "TFJob"), Resource: "tfjobs", Version: "v1", New: object[crd.TFJob],
		Framework: "kubeflow.org/tfjob", OpenShift: "TFJob", MultiKueue: true}
	XGBoostJob = &Kind{GroupKind: gk("kubeflow.org", "XGBoostJob"), Resource: "xgboostjobs", Version: "v1",
		New:       object[crd.XGBoostJob],
		Framework: "kubeflow.org/xgboostjob", OpenShift: "XGBoostJob", MultiKueue: true}
	PaddleJob = &Kind{GroupKind: gk("kubeflow.org", "PaddleJob"), Resource: "paddlejobs", Version: "v1",
		New:       object[crd.PaddleJob],
		Framework: "kubeflow.org/paddlejob", OpenShift: "PaddleJob", MultiKueue: true}
	// JAXJob is missing in the OpenShift operator: it writes an empty name for it, which Kueue refuses.
	JAXJob = &Kind{GroupKind: gk("kubeflow.org", "JAXJob"), Resource: "jaxjobs", Version: "v1", New: object[crd.JAXJob],
		Framework: "kubeflow.org/jaxjob", MultiKueue: true}
	TrainJob = &Kind{GroupKind: gk("trainer.kubeflow.org", "TrainJob"), Resource: "trainjobs", Version: "v1alpha1",
		New:       object[crd.TrainJob],
		Framework: "trainer.kubeflow.org/trainjob", OpenShift: "TrainJob", MultiKueue: true}
	RayJob = &Kind{GroupKind: gk("ray.io", "RayJob"), Resource: "rayjobs", Version: "v1", Older: []string{"v1alpha1"},
		New:       object[crd.RayJob],
		Framework: "ray.io/rayjob", OpenShift: "RayJob", MultiKueue: true,
		Private: []string{"entrypoint", "runtimeEnvYAML", "rayStartParams"}}
	RayService = &Kind{GroupKind: gk("ray.io", "RayService"), Resource: "rayservices", Version: "v1",
		Older: []string{"v1alpha1"}, New: object[crd.RayService],
		Framework: "ray.io/rayservice", OpenShift: "RayService", MultiKueue: true, OfPods: true}
	RayCluster = &Kind{GroupKind: gk("ray.io", "RayCluster"), Resource: "rayclusters", Version: "v1",
		Older: []string{"v1alpha1"}, New: object[crd.RayCluster],
		Framework: "ray.io/raycluster", OpenShift: "RayCluster", MultiKueue: true}
	AppWrapper = &Kind{GroupKind: gk("workload.codeflare.dev", "AppWrapper"), Resource: "appwrappers",
		Version: "v1beta2", New: object[crd.AppWrapper],
		Short: []string{"aw"}, Framework: "workload.codeflare.dev/appwrapper", OpenShift: "AppWrapper",
		MultiKueue: true}
	SparkApplication = &Kind{GroupKind: gk("sparkoperator.k8s.io", "SparkApplication"), Resource: "sparkapplications",
		Version: "v1beta2",
		New:     object[crd.SparkApplication], Short: []string{"sparkapp"},
		Framework: "sparkoperator.k8s.io/sparkapplication", OpenShift: "SparkApplication",
		Gate:    release.SparkApplicationIntegration,
		Private: []string{"arguments", "envVars", "envSecretKeyRefs", "sparkConf", "hadoopConf"},
		Kept:    map[string][]string{"sparkConf": crd.SparkProperties()}}
	StatefulSet = &Kind{GroupKind: gk("apps", "StatefulSet"), Resource: "statefulsets", Version: "v1",
		New:   object[appsv1.StatefulSet],
		Short: []string{"sts"}, Framework: "statefulset", OpenShift: "StatefulSet", ImpliesPod: true, MultiKueue: true,
		OfPods: true}
	LeaderWorkerSet = &Kind{GroupKind: gk("leaderworkerset.x-k8s.io", "LeaderWorkerSet"), Resource: "leaderworkersets",
		Version: "v1",
		New:     object[crd.LeaderWorkerSet], Short: []string{"lws"},
		Framework: "leaderworkerset.x-k8s.io/leaderworkerset", OpenShift: "LeaderWorkerSet", ImpliesPod: true,
		MultiKueue: true, OfPods: true}
	Deployment = &Kind{GroupKind: gk("apps", "Deployment"), Resource: "deployments", Version: "v1",
		New:   object[appsv1.Deployment],
		Short: []string{"deploy"}, Framework: "deployment", OpenShift: "Deployment", ImpliesPod: true, OfPods: true}
	Pod = &Kind{GroupKind: gk("", "Pod"), Resource: "pods", Version: "v1", New: object[corev1.Pod],
		Short: []string{"po"}, Framework: "pod", OpenShift: "Pod", MultiKueue: true, OfPods: true}
)

var all = []*Kind{
	Job, JobSet, MPIJob, PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob, TrainJob, RayJob, RayService, RayCluster,
	AppWrapper, SparkApplication, StatefulSet, LeaderWorkerSet, Deployment, Pod,
}

// All lists the kinds, in the order in which Kueue's integrations are looked at.
func All() []*Kind { return slices.Clone(all) }

// ByFramework finds a kind by its name in integrations.frameworks; nil when Kueue has no such integration.
func ByFramework(name string) *Kind {
	for _, k := range all {
		if k.Framework == name {
			return k
		}
	}
	return nil
}

// ByOpenShiftName finds a kind by the operator's name for it; nil for none.
func ByOpenShiftName(name string) *Kind {
	for _, k := range all {
		if k.OpenShift != "" && k.OpenShift == name {
			return k
		}
	}
	return nil
}

// Frameworks lists the names of all integrations, sorted.
func Frameworks() []string {
	var out []string
	for _, k := range all {
		out = append(out, k.Framework)
	}
	slices.Sort(out)
	return out
}
