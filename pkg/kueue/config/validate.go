package config

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// validator checks a Configuration by the rules of one release, with Kueue's texts.
type validator struct {
	*configapi.Configuration
	behavior release.Behavior
	gates    map[string]bool
}

// validate returns the errors in the order Kueue finds them.
func (v validator) validate() field.ErrorList {
	var errs field.ErrorList
	for _, check := range []func() field.ErrorList{
		v.waitForPodsReady,
		v.integrations,
		v.multiKueue,
		v.fairSharing,
		v.admissionFairSharing,
		v.internalCertManagement,
		v.transformations,
		v.deviceClassMappings,
		v.namespaceSelector,
		v.objectRetention,
		v.tls,
		v.visibilityServer,
		v.customLabels,
		v.quotaCheckStrategy,
	} {
		errs = append(errs, check()...)
	}
	return errs
}

func (v validator) waitForPodsReady() field.ErrorList {
	w := v.WaitForPodsReady
	if w == nil || v.gates[release.DisableWaitForPodsReady] {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("waitForPodsReady")
	if w.Timeout.Duration == 0 {
		errs = append(errs, field.Required(path.Child("timeout"), "must be specified"))
	}
	if w.Timeout.Duration < 0 {
		errs = append(errs, field.Invalid(path.Child("timeout"), w.Timeout, apivalidation.IsNegativeErrorMsg))
	}
	if w.RecoveryTimeout != nil && w.RecoveryTimeout.Duration < 0 {
		errs = append(errs,
			field.Invalid(path.Child("recoveryTimeout"), w.RecoveryTimeout, apivalidation.IsNegativeErrorMsg))
	}
	strategy := w.RequeuingStrategy
	if strategy == nil {
		return errs
	}
	path = path.Child("requeuingStrategy")
	allowed := []configapi.RequeuingTimestamp{configapi.CreationTimestamp, configapi.EvictionTimestamp}
	if strategy.Timestamp != nil && !slices.Contains(allowed, *strategy.Timestamp) {
		errs = append(errs, field.NotSupported(path.Child("timestamp"), strategy.Timestamp, allowed))
	}
	for _, n := range []struct {
		name  string
		value *int32
	}{
		{"backoffLimitCount", strategy.BackoffLimitCount},
		{"backoffBaseSeconds", strategy.BackoffBaseSeconds},
		{"backoffMaxSeconds", strategy.BackoffMaxSeconds},
	} {
		if n.value != nil && *n.value < 0 {
			errs = append(errs, field.Invalid(path.Child(n.name), *n.value, apivalidation.IsNegativeErrorMsg))
		}
	}
	return errs
}

// strategySets are the preemption strategies that may be given together, in this order.
var strategySets = [][]configapi.PreemptionStrategy{
	{configapi.LessThanOrEqualToFinalShare},
	{configapi.LessThanInitialShare},
	{configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare},
}

func (v validator) fairSharing() field.ErrorList {
	if v.FairSharing == nil {
		return nil
	}
	path := field.NewPath("fairSharing", "preemptionStrategies")
	given := v.FairSharing.PreemptionStrategies
	if len(given) == 0 {
		return field.ErrorList{field.Required(path, "must be specified")}
	}
	var allowed []string
	for _, set := range strategySets {
		if slices.Equal(set, given) {
			return nil
		}
		var names []string
		for _, s := range set {
			names = append(names, string(s))
		}
		allowed = append(allowed, strings.Join(names, ","))
	}
	return field.ErrorList{field.NotSupported(path, given, allowed)}
}

func (v validator) admissionFairSharing() field.ErrorList {
	afs := v.AdmissionFairSharing
	if afs == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("admissionFairSharing")
	if afs.UsageHalfLifeTime.Duration < 0 {
		errs = append(errs,
			field.Invalid(path.Child("usageHalfLifeTime"), afs.UsageHalfLifeTime, apivalidation.IsNegativeErrorMsg))
	}
	if afs.UsageSamplingInterval.Duration <= 0 {
		// Kueue shows the half-life here.
		errs = append(errs,
			field.Invalid(path.Child("usageSamplingInterval"), afs.UsageHalfLifeTime, "must be greater than 0"))
	}
	for _, name := range slices.Sorted(maps.Keys(afs.ResourceWeights)) {
		if afs.ResourceWeights[name] < 0 {
			errs = append(errs, field.Invalid(path.Child("resourceWeights").Key(string(name)),
				afs.ResourceWeights, apivalidation.IsNegativeErrorMsg))
		}
	}
	return errs
}

func (v validator) internalCertManagement() field.ErrorList {
	m := v.InternalCertManagement
	if m == nil || m.Enable == nil || !*m.Enable {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("internalCertManagement")
	if name := m.WebhookServiceName; name != nil {
		if bad := validation.IsDNS1035Label(*name); len(bad) > 0 {
			errs = append(errs, field.Invalid(path.Child("webhookServiceName"), name, strings.Join(bad, ",")))
		}
	}
	if name := m.WebhookSecretName; name != nil {
		if bad := validation.IsDNS1123Subdomain(*name); len(bad) > 0 {
			errs = append(errs, field.Invalid(path.Child("webhookSecretName"), name, strings.Join(bad, ",")))
		}
	}
	return errs
}

func (v validator) transformations() field.ErrorList {
	if v.Resources == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("resources", "transformations")
	allowed := []configapi.ResourceTransformationStrategy{configapi.Retain, configapi.Replace}
	seen := map[corev1.ResourceName]bool{}
	for i, t := range v.Resources.Transformations {
		if t.Strategy == nil || !slices.Contains(allowed, *t.Strategy) {
			errs = append(errs, field.NotSupported(path.Index(i).Child("strategy"), t.Strategy, allowed))
		}
		if seen[t.Input] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("input"), t.Input))
		}
		seen[t.Input] = true
		errs = append(errs, v.reservedName(path.Index(i).Child("input"), t.Input)...)
		errs = append(errs, v.reservedName(path.Index(i).Child("multiplyBy"), t.MultiplyBy)...)
		for _, output := range slices.Sorted(maps.Keys(t.Outputs)) {
			errs = append(errs, v.reservedName(path.Index(i).Child("outputs").Key(string(output)), output)...)
		}
	}
	return errs
}

// namespaceSelector checks managedJobsNamespaceSelector, which must leave out kube-system and Kueue's namespace.
func (v validator) namespaceSelector() field.ErrorList {
	path := field.NewPath("managedJobsNamespaceSelector")
	given := v.ManagedJobsNamespaceSelector
	errs := labelSelectorErrors(path, given)
	selector, err := metav1.LabelSelectorAsSelector(given)
	if err != nil {
		return errs
	}
	prohibited := []string{metav1.NamespaceSystem}
	if v.Namespace != nil && *v.Namespace != "" {
		prohibited = append(prohibited, *v.Namespace)
	}
	for _, name := range prohibited {
		if selector.Matches(labels.Set{corev1.LabelMetadataName: name}) {
			errs = append(errs, field.Invalid(path, given, fmt.Sprintf("should not match the %q namespace", name)))
		}
	}
	return errs
}

// labelSelectorErrors are those of Kubernetes, which walks matchLabels in the order of a map; here it is by key.
func labelSelectorErrors(path *field.Path, given *metav1.LabelSelector) field.ErrorList {
	if given == nil {
		return nil
	}
	check := func(s metav1.LabelSelector) field.ErrorList {
		return metavalidation.ValidateLabelSelector(&s, metavalidation.LabelSelectorValidationOptions{}, path)
	}
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(given.MatchLabels)) {
		errs = append(errs, check(metav1.LabelSelector{MatchLabels: map[string]string{key: given.MatchLabels[key]}})...)
	}
	return append(errs, check(metav1.LabelSelector{MatchExpressions: given.MatchExpressions})...)
}

func (v validator) objectRetention() field.ErrorList {
	r := v.ObjectRetentionPolicies
	if r == nil || r.Workloads == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("objectRetentionPolicies", "workloads")
	if d := r.Workloads.AfterFinished; d != nil && d.Duration < 0 {
		errs = append(errs, field.Invalid(path.Child("afterFinished"), d, apivalidation.IsNegativeErrorMsg))
	}
	if d := r.Workloads.AfterDeactivatedByKueue; d != nil && d.Duration < 0 {
		errs = append(errs,
			field.Invalid(path.Child("afterDeactivatedByKueue"), d.Duration.String(), apivalidation.IsNegativeErrorMsg))
	}
	return errs
}

func (v validator) visibilityServer() field.ErrorList {
	s := v.VisibilityServer
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("visibilityServer")
	if s.BindAddress != nil && net.ParseIP(*s.BindAddress) == nil {
		errs = append(errs, field.Invalid(path.Child("bindAddress"), *s.BindAddress, "must be a valid IP address"))
	}
	if s.BindPort != nil && (*s.BindPort < 1 || *s.BindPort > 65535) {
		errs = append(errs, field.Invalid(path.Child("bindPort"), *s.BindPort, "must be a valid port number (1-65535)"))
	}
	return errs
}

func (v validator) quotaCheckStrategy() field.ErrorList {
	if !v.gates[release.QuotaCheckStrategy] || v.Resources == nil || v.Resources.QuotaCheckStrategy == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("resources", "quotaCheckStrategy")
	strategy := *v.Resources.QuotaCheckStrategy
	if len(v.Resources.ExcludeResourcePrefixes) > 0 && strategy == configapi.QuotaCheckIgnoreUndeclared {
		errs = append(errs, field.Invalid(path, strategy,
			"excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared"))
	}
	allowed := []configapi.QuotaCheckStrategy{configapi.QuotaCheckIgnoreUndeclared, configapi.QuotaCheckBlockUndeclared}
	if !slices.Contains(allowed, strategy) {
		errs = append(errs, field.NotSupported(path, strategy, allowed))
	}
	return errs
}
