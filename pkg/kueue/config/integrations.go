package config

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// IntegrationsKnown tells whether the list of enabled integrations was in the input. When it was not,
// Framework answers for Kueue's defaults (batch/job alone), which few installations keep.
func (c *Config) IntegrationsKnown() bool { return c.Found }

// ExplicitFramework tells whether integrations.frameworks names the integration and the gate it needs is on.
func (c *Config) ExplicitFramework(name string) bool {
	i := c.Configuration.Integrations
	k := jobs.ByFramework(name)
	return k != nil && i != nil && slices.Contains(i.Frameworks, name) && (k.Gate == "" || c.Enabled(k.Gate))
}

// Framework tells whether an integration runs: named, or implied by one that is
// (deployment, statefulset and leaderworkerset imply pod).
func (c *Config) Framework(name string) bool {
	if c.ExplicitFramework(name) {
		return true
	}
	return name == jobs.Pod.Framework && slices.ContainsFunc(jobs.All(), func(k *jobs.Kind) bool {
		return k.ImpliesPod && c.ExplicitFramework(k.Framework)
	})
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
	return c.DRA() && (c.Enabled(release.KueueDRAIntegrationExtendedResource) ||
		c.Enabled(release.DRAExtendedResources))
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
