package collect

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// ManagerConfigKey is the only key of a ConfigMap that is collected: Kueue's configuration.
const ManagerConfigKey = "controller_manager_config.yaml"

// annotationDomains are those whose annotations say how a job is charged. A domain stands for those below it.
// All other annotations are left out; one of kubectl's holds the whole object.
var annotationDomains = []string{
	"x-k8s.io", "resource.kubernetes.io", "batch.kubernetes.io", "kueue.openshift.io", "ray.io", "kubeflow.org",
	"codeflare.dev",
}

// private are fields of jobs and pods that no charge depends on and that often hold secrets.
var private = append(jobFields(), []string{
	"managedFields",
	// of containers
	"command", "args", "envFrom", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe",
	// of a pod's status: termination messages
	"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses",
}...)

// jobFields are the private fields of all kinds of jobs.
func jobFields() []string {
	var out []string
	for _, k := range jobs.All() {
		out = append(out, k.Private...)
	}
	return out
}

// keptEntries are the entries of private maps that a charge depends on.
var keptEntries = func() map[string][]string {
	out := map[string][]string{}
	for _, k := range jobs.All() {
		maps.Copy(out, k.Kept)
	}
	return out
}()

// wordMaps are fields whose keys are words of the user.
var wordMaps = []string{"labels", "annotations", "matchLabels", "nodeSelector", "nodeLabels", "requests", "limits"}

// dataKinds are objects, perhaps inside others, whose content is nobody's business.
var dataKinds = []string{"Secret", "ConfigMap"}

// strip leaves out of an object what can hold secrets. Objects of resource.k8s.io hold no pods, and parameters
// of drivers may look like anything: of these only the metadata is looked at.
func strip(o map[string]any) {
	if version, _ := o["apiVersion"].(string); strings.HasPrefix(version, "resource.k8s.io/") {
		stripMetadata(o["metadata"])
		return
	}
	var config any
	if data, ok := o["data"].(map[string]any); ok && o["kind"] == "ConfigMap" {
		config = data[ManagerConfigKey]
	}
	var flags []any
	if o["kind"] == "Deployment" {
		flags = managerFlags(o)
	}
	stripValue(o)
	for i, c := range containers(o) {
		if i < len(flags) && flags[i] != nil {
			c["args"] = flags[i]
		}
	}
	if config != nil {
		o["data"] = map[string]any{ManagerConfigKey: config}
	}
}

// kueueFlags are the flags of Kueue's manager that say how it is configured.
var kueueFlags = []string{"config", "feature-gates"}

// managerFlags are, for each container of a Deployment, the arguments that configure Kueue.
func managerFlags(o map[string]any) []any {
	var out []any
	for _, c := range containers(o) {
		command, _ := c["command"].([]any)
		args, _ := c["args"].([]any)
		var flags []any
		takesNext := false
		for _, arg := range slices.Concat(command, args) {
			text, _ := arg.(string)
			flag, _, hasValue := strings.Cut(strings.TrimLeft(text, "-"), "=")
			named := strings.HasPrefix(text, "-") && slices.Contains(kueueFlags, flag)
			if takesNext || named {
				flags = append(flags, arg)
			}
			takesNext = named && !hasValue
		}
		if flags == nil {
			out = append(out, nil)
		} else {
			out = append(out, flags)
		}
	}
	return out
}

// containers are those of the pod template of an object.
func containers(o map[string]any) []map[string]any {
	for _, key := range []string{"spec", "template", "spec"} {
		o, _ = o[key].(map[string]any)
	}
	list, _ := o["containers"].([]any)
	var out []map[string]any
	for _, c := range list {
		if c, ok := c.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

func stripValue(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			stripValue(e)
		}
	case map[string]any:
		for _, key := range private {
			if entries := keptOf(v[key], keptEntries[key]); len(entries) > 0 {
				v[key] = entries
			} else {
				delete(v, key)
			}
		}
		if kind, ok := v["kind"].(string); ok && slices.Contains(dataKinds, kind) {
			for _, key := range []string{"data", "stringData", "binaryData"} {
				delete(v, key)
			}
		}
		stripMetadata(v["metadata"])
		// A role of a SparkApplication has its annotations beside its other fields.
		keepAnnotations(v)
		if env, ok := v["env"].([]any); ok {
			v["env"] = namesOnly(env)
		} else {
			delete(v, "env")
		}
		for key, e := range v {
			if !slices.Contains(wordMaps, key) {
				stripValue(e)
			}
		}
	}
}

// keptOf are the entries of a map that are kept.
func keptOf(v any, names []string) map[string]any {
	all, _ := v.(map[string]any)
	out := map[string]any{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			out[name] = value
		}
	}
	return out
}

// namesOnly leaves of environment variables their names.
func namesOnly(env []any) []any {
	var out []any
	for _, e := range env {
		if variable, ok := e.(map[string]any); ok {
			out = append(out, map[string]any{"name": variable["name"]})
		}
	}
	return out
}

func stripMetadata(v any) {
	if metadata, ok := v.(map[string]any); ok {
		delete(metadata, "managedFields")
		keepAnnotations(metadata)
	}
}

func keepAnnotations(holder map[string]any) {
	annotations, ok := holder["annotations"].(map[string]any)
	if !ok {
		return
	}
	for key := range annotations {
		if !ours(key) {
			delete(annotations, key)
		}
	}
	if len(annotations) == 0 {
		delete(holder, "annotations")
	}
}

func ours(annotation string) bool {
	domain, _, ok := strings.Cut(annotation, "/")
	return ok && slices.ContainsFunc(annotationDomains, func(d string) bool {
		return domain == d || strings.HasSuffix(domain, "."+d)
	})
}
