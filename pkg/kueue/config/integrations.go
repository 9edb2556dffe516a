package config

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// Names of the integrations, as in integrations.frameworks.
const (
	FrameworkJob              = "batch/job"
	FrameworkMPIJob           = "kubeflow.org/mpijob"
	FrameworkPaddleJob        = "kubeflow.org/paddlejob"
	FrameworkPyTorchJob       = "kubeflow.org/pytorchjob"
	FrameworkTFJob            = "kubeflow.org/tfjob"
	FrameworkXGBoostJob       = "kubeflow.org/xgboostjob"
	FrameworkJAXJob           = "kubeflow.org/jaxjob"
	FrameworkTrainJob         = "trainer.kubeflow.org/trainjob"
	FrameworkRayJob           = "ray.io/rayjob"
	FrameworkRayCluster       = "ray.io/raycluster"
	FrameworkRayService       = "ray.io/rayservice"
	FrameworkJobSet           = "jobset.x-k8s.io/jobset"
	FrameworkAppWrapper       = "workload.codeflare.dev/appwrapper"
	FrameworkSparkApplication = "sparkoperator.k8s.io/sparkapplication"
	FrameworkPod              = "pod"
	FrameworkDeployment       = "deployment"
	FrameworkStatefulSet      = "statefulset"
	FrameworkLeaderWorkerSet  = "leaderworkerset.x-k8s.io/leaderworkerset"
)

// framework is one built-in integration of Kueue.
type framework struct {
	kind schema.GroupVersionKind
	// impliesPod: enabling it enables the pod integration.
	impliesPod bool
	// multiKueue: it has a MultiKueue adapter.
	multiKueue bool
	// gate must be on for it to run; empty for none.
	gate string
}

func kind(group, version, name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: name}
}

var frameworks = map[string]framework{
	FrameworkJob:              {kind: kind("batch", "v1", "Job"), multiKueue: true},
	FrameworkMPIJob:           {kind: kind("kubeflow.org", "v2beta1", "MPIJob"), multiKueue: true},
	FrameworkPaddleJob:        {kind: kind("kubeflow.org", "v1", "PaddleJob"), multiKueue: true},
	FrameworkPyTorchJob:       {kind: kind("kubeflow.org", "v1", "PyTorchJob"), multiKueue: true},
	FrameworkTFJob:            {kind: kind("kubeflow.org", "v1", "TFJob"), multiKueue: true},
	FrameworkXGBoostJob:       {kind: kind("kubeflow.org", "v1", "XGBoostJob"), multiKueue: true},
	FrameworkJAXJob:           {kind: kind("kubeflow.org", "v1", "JAXJob"), multiKueue: true},
	FrameworkTrainJob:         {kind: kind("trainer.kubeflow.org", "v1alpha1", "TrainJob"), multiKueue: true},
	FrameworkRayJob:           {kind: kind("ray.io", "v1", "RayJob"), multiKueue: true},
	FrameworkRayCluster:       {kind: kind("ray.io", "v1", "RayCluster"), multiKueue: true},
	FrameworkRayService:       {kind: kind("ray.io", "v1", "RayService"), multiKueue: true},
	FrameworkJobSet:           {kind: kind("jobset.x-k8s.io", "v1alpha2", "JobSet"), multiKueue: true},
	FrameworkAppWrapper:       {kind: kind("workload.codeflare.dev", "v1beta2", "AppWrapper"), multiKueue: true},
	FrameworkSparkApplication: {kind: kind("sparkoperator.k8s.io", "v1beta2", "SparkApplication"), gate: release.SparkApplicationIntegration},
	FrameworkPod:              {kind: kind("", "v1", "Pod"), multiKueue: true},
	FrameworkDeployment:       {kind: kind("apps", "v1", "Deployment"), impliesPod: true},
	FrameworkStatefulSet:      {kind: kind("apps", "v1", "StatefulSet"), impliesPod: true, multiKueue: true},
	FrameworkLeaderWorkerSet:  {kind: kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"), impliesPod: true, multiKueue: true},
}

func frameworkNames() []string { return slices.Sorted(maps.Keys(frameworks)) }

// IntegrationsKnown tells whether the list of enabled integrations was in the input. When it was not,
// Framework answers for Kueue's defaults (batch/job alone), which few installations keep.
func (c *Config) IntegrationsKnown() bool { return c.Found }

// ExplicitFramework tells whether integrations.frameworks names the integration and the gate it needs is on.
func (c *Config) ExplicitFramework(name string) bool {
	i := c.Configuration.Integrations
	f, builtIn := frameworks[name]
	return builtIn && i != nil && slices.Contains(i.Frameworks, name) && (f.gate == "" || c.Enabled(f.gate))
}

// Framework tells whether an integration runs: named, or implied by one that is
// (deployment, statefulset and leaderworkerset imply pod).
func (c *Config) Framework(name string) bool {
	if c.ExplicitFramework(name) {
		return true
	}
	if name != FrameworkPod {
		return false
	}
	for other, f := range frameworks {
		if f.impliesPod && c.ExplicitFramework(other) {
			return true
		}
	}
	return false
}

// ExternalFramework tells whether integrations.externalFrameworks names a kind (`Kind.version.group`).
func (c *Config) ExternalFramework(gk schema.GroupKind) bool {
	i := c.Configuration.Integrations
	return i != nil && slices.ContainsFunc(i.ExternalFrameworks, func(s string) bool {
		gvk, _ := schema.ParseKindArg(s)
		return gvk != nil && gvk.GroupKind() == gk
	})
}

// ManageWithoutQueueName is manageJobsWithoutQueueName: jobs without a queue name are managed, too.
func (c *Config) ManageWithoutQueueName() bool { return c.Configuration.ManageJobsWithoutQueueName }

// NamespaceSelected tells whether managedJobsNamespaceSelector matches a namespace's labels.
// The default selector asks for the label kubernetes.io/metadata.name, which the API server sets on every namespace.
func (c *Config) NamespaceSelected(namespaceLabels map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(c.Configuration.ManagedJobsNamespaceSelector)
	return err == nil && selector.Matches(labels.Set(namespaceLabels))
}

// DRA tells whether claims of workloads are charged: the gate KueueDRAIntegration, in 0.17 DynamicResourceAllocation.
func (c *Config) DRA() bool {
	return c.Enabled(release.KueueDRAIntegration) || c.Enabled(release.DynamicResourceAllocation)
}

// ExtendedResources tells whether extended resources backed by a DeviceClass are resolved:
// the gate KueueDRAIntegrationExtendedResource, in 0.17 DRAExtendedResources. It needs DRA.
func (c *Config) ExtendedResources() bool {
	return c.DRA() && (c.Enabled(release.KueueDRAIntegrationExtendedResource) || c.Enabled(release.DRAExtendedResources))
}

// IgnoresUndeclared tells whether resources that a ClusterQueue does not declare are left out of the quota check:
// quotaCheckStrategy IgnoreUndeclared, with its gate on.
func (c *Config) IgnoresUndeclared() bool {
	r := c.Configuration.Resources
	return c.Enabled(release.QuotaCheckStrategy) && r != nil && r.QuotaCheckStrategy != nil &&
		*r.QuotaCheckStrategy == configapi.QuotaCheckIgnoreUndeclared
}

// BlocksAdmission tells whether a workload is admitted only while all admitted ones have their pods ready.
func (c *Config) BlocksAdmission() bool {
	w := c.Configuration.WaitForPodsReady
	return w != nil && !c.Enabled(release.DisableWaitForPodsReady) && w.BlockAdmission != nil && *w.BlockAdmission
}
