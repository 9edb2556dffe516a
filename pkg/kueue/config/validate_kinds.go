package config

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

func (v validator) integrations() field.ErrorList {
	path := field.NewPath("integrations")
	if v.Integrations == nil {
		return field.ErrorList{field.Required(path, "cannot be empty")}
	}
	if v.Integrations.Frameworks == nil {
		return field.ErrorList{field.Required(path.Child("frameworks"), "cannot be empty")}
	}
	var errs field.ErrorList
	managed := map[schema.GroupVersionKind]bool{}
	for i, name := range v.Integrations.Frameworks {
		at := path.Child("frameworks").Index(i)
		k := jobs.ByFramework(name)
		switch {
		case k == nil:
			errs = append(errs, field.NotSupported(at, name, jobs.Frameworks()))
		case managed[k.GroupVersionKind()]:
			errs = append(errs, field.Duplicate(at, name))
		default:
			managed[k.GroupVersionKind()] = true
		}
	}
	for i, name := range v.Integrations.ExternalFrameworks {
		at := path.Child("externalFrameworks").Index(i)
		gvk, _ := schema.ParseKindArg(name)
		switch {
		case gvk == nil:
			errs = append(errs, field.Invalid(at, name, "must be format, 'Kind.version.group.com'"))
		case managed[*gvk]:
			errs = append(errs, field.Duplicate(at, name))
		default:
			managed[*gvk] = true
		}
	}
	if !slices.Contains(v.Integrations.Frameworks, jobs.Pod.Framework) {
		return errs
	}
	if v.ManagedJobsNamespaceSelector == nil {
		return append(errs, field.Required(field.NewPath("managedJobsNamespaceSelector"), "cannot be empty when pod "+
			"integration is enabled"))
	}
	// With the pod integration the selector is checked here and once more by itself.
	return append(errs, v.namespaceSelector()...)
}

func (v validator) multiKueue() field.ErrorList {
	m := v.MultiKueue
	if m == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("multiKueue")
	if d := m.GCInterval; d != nil && d.Duration < 0 {
		errs = append(errs, field.Invalid(path.Child("gcInterval"), d.Duration, apivalidation.IsNegativeErrorMsg))
	}
	if d := m.WorkerLostTimeout; d != nil && d.Duration < 0 {
		errs = append(errs,
			field.Invalid(path.Child("workerLostTimeout"), d.Duration, apivalidation.IsNegativeErrorMsg))
	}
	if m.Origin != nil {
		if bad := content.IsLabelValue(*m.Origin); len(bad) > 0 {
			errs = append(errs, field.Invalid(path.Child("origin"), *m.Origin, strings.Join(bad, ",")))
		}
	}
	errs = append(errs, v.multiKueueFrameworks(path.Child("externalFrameworks"))...)
	errs = append(errs, clusterProfile(path.Child("clusterProfile"), m.ClusterProfile)...)
	if c := m.IncrementalDispatcherConfig; c != nil {
		at := path.Child("incrementalDispatcherConfig")
		if m.DispatcherName == nil || *m.DispatcherName != configapi.MultiKueueDispatcherModeIncremental {
			errs = append(errs, field.Invalid(at, c, "incrementalDispatcherConfig is only valid when dispatcherName "+
				"is set to the incremental dispatcher"))
		}
		if c.StepSize != nil && *c.StepSize < 1 {
			errs = append(errs, field.Invalid(at.Child("stepSize"), *c.StepSize, "must be greater than or equal to 1"))
		}
	}
	return errs
}

func (v validator) multiKueueFrameworks(path *field.Path) field.ErrorList {
	adapted := map[schema.GroupVersionKind]bool{}
	if v.Integrations != nil {
		for _, name := range v.Integrations.Frameworks {
			if k := jobs.ByFramework(name); k != nil && k.MultiKueue {
				adapted[k.GroupVersionKind()] = true
			}
		}
	}
	var errs field.ErrorList
	seen := map[schema.GroupVersionKind]bool{}
	for i, f := range v.MultiKueue.ExternalFrameworks {
		at := path.Index(i).Child("name")
		gvk, _ := schema.ParseKindArg(f.Name)
		if gvk == nil {
			errs = append(errs, field.Invalid(at, f.Name, "must be in 'kind.version.group' format"))
			continue
		}
		if seen[*gvk] {
			errs = append(errs, field.Duplicate(at, f.Name))
		}
		seen[*gvk] = true
		if adapted[*gvk] {
			errs = append(errs, field.Invalid(at, f.Name, "conflicts with a built-in MultiKueue adapter"))
		}
	}
	return errs
}

func clusterProfile(path *field.Path, p *configapi.ClusterProfile) field.ErrorList {
	if p == nil {
		return nil
	}
	//lint:ignore SA1019 the field is deprecated, and Kueue still reads it
	old := p.CredentialsProviders
	if len(p.AccessProviders) == 0 {
		return accessProviders(path.Child("credentialsProviders"), old)
	}
	var errs field.ErrorList
	if len(old) > 0 {
		errs = append(errs, field.Forbidden(path.Child("credentialsProviders"), "must not be specified when "+
			"accessProviders is specified"))
	}
	return append(errs, accessProviders(path.Child("accessProviders"), p.AccessProviders)...)
}

func accessProviders(path *field.Path, providers []configapi.ClusterProfileAccessProvider) field.ErrorList {
	var errs field.ErrorList
	exec := path.Child("execConfig")
	modes := []clientcmdapi.ExecInteractiveMode{
		clientcmdapi.NeverExecInteractiveMode, clientcmdapi.IfAvailableExecInteractiveMode,
		clientcmdapi.AlwaysExecInteractiveMode,
	}
	required := func(path *field.Path, value string) {
		if value == "" {
			errs = append(errs, field.Required(path, "must be specified"))
		}
	}
	for _, p := range providers {
		required(path.Child("name"), p.Name)
		required(exec.Child("command"), p.ExecConfig.Command)
		required(exec.Child("apiVersion"), p.ExecConfig.APIVersion)
		for _, e := range p.ExecConfig.Env {
			required(exec.Child("env").Child("name"), e.Name)
		}
		mode := p.ExecConfig.InteractiveMode
		required(exec.Child("interactiveMode"), string(mode))
		if mode != "" && !slices.Contains(modes, mode) {
			errs = append(errs, field.NotSupported(exec.Child("interactiveMode"), mode, modes))
		}
	}
	return errs
}
