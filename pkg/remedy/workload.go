package remedy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// ungate takes the annotation away that gates admission.
func (f *Finder) ungate(x *subject) []Remedy {
	const key = "kueue.x-k8s.io/admission-gated-by"
	w := x.Charge.Workload
	r := Remedy{Action: "take the annotation " + key + " away", Effect: "it keeps the workload out of the queue"}
	for _, o := range []*cluster.Object{w.Record, w.Owner} {
		if o == nil || o.Meta.Annotations[key] == "" {
			continue
		}
		changes, _ := patchOf(o.Ref, op{"remove", "/metadata/annotations/" + escape(key), nil})
		r.Changes = append(r.Changes, changes...)
		r.Patch = strings.TrimSpace(r.Patch +
			fmt.Sprintf("\nkubectl annotate %s %s -n %s %s-", strings.ToLower(o.Ref.Kind), o.Ref.Name, o.Ref.Namespace,
				key))
	}
	if len(r.Changes) == 0 {
		return nil
	}
	return []Remedy{r}
}

// activate sets spec.active.
func (f *Finder) activate(x *subject) []Remedy {
	w := x.Charge.Workload
	if w.Active || w.Record == nil {
		return nil
	}
	r := Remedy{Action: "set spec.active of Workload " + w.Name + " to true", Effect: "it is deactivated"}
	r.Changes, r.Patch = patchOf(w.Record.Ref, op{"add", "/spec/active", true})
	return []Remedy{r}
}

// withinLimits raises limits that are lower than the requests. For kinds whose pods are described in several places the
// change is made on the Workload.
func (f *Finder) withinLimits(x *subject) []Remedy {
	w := x.Charge.Workload
	if !message.Parse(x.Predicted.Message).Is(message.RequestsAboveLimits) {
		return nil
	}
	r := Remedy{Action: "give the containers limits that are at least their requests",
		Effect: "a limit, their own or that of a LimitRange of the namespace, is lower"}
	sets := x.Charge.PodSets
	if w.Owner != nil && w.Owner.Ref.GroupKind() == cluster.Job && len(sets) == 1 {
		r.Changes, r.Patch = patchOf(w.Owner.Ref, higherLimits("/spec/template/spec", sets[0].Spec)...)
		return []Remedy{r}
	}
	if w.Record == nil {
		return nil
	}
	var ops []op
	for i := range sets {
		ops = append(ops, higherLimits(fmt.Sprintf("/spec/podSets/%d/template/spec", i), sets[i].Spec)...)
	}
	r.Changes = []cluster.Change{{Ref: w.Record.Ref, Patch: operations(ops...)}}
	return []Remedy{r}
}

func higherLimits(at string, spec *corev1.PodSpec) []op {
	var ops []op
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range list.containers {
			limits := maps.Clone(list.containers[i].Resources.Limits)
			for name, q := range list.containers[i].Resources.Requests {
				if l, ok := limits[name]; ok && l.Cmp(q) < 0 {
					limits[name] = q
				}
			}
			if limits != nil {
				ops = append(ops, op{"add", fmt.Sprintf("%s/%s/%d/resources/limits", at, list.field, i), limits})
			}
		}
	}
	return ops
}

// configKey is the key of the ConfigMap that holds the configuration.
const configKey = "controller_manager_config.yaml"

// mapClass adds an unmapped DeviceClass to a mapping: to one there is already, or to a new one for a resource that the
// queue covers.
func (f *Finder) mapClass(x *subject) []Remedy {
	class := ""
	for _, p := range x.Charge.Problems {
		if p.Code == charge.CodeUnmappedClass {
			class = firstField(p, "class", message.UnmappedClass)
		}
	}
	o := f.snap.Get(f.conf.Ref.GroupKind(), f.conf.Ref.Namespace, f.conf.Ref.Name)
	cm := cluster.As[*corev1.ConfigMap](o)
	if class == "" || cm == nil || cm.Data[configKey] == "" {
		return nil
	}
	var out []Remedy
	for _, name := range f.mappingNames(x) {
		text, ok := mapped(cm.Data[configKey], class, name)
		if !ok {
			continue
		}
		r := Remedy{
			Action: fmt.Sprintf("add DeviceClass %s to the mapping %s in %s (resources.deviceClassMappings), then "+
				"restart the Kueue manager", class, name, f.conf.From),
			Effect: "Kueue reads the mappings at start",
		}
		r.Changes, _ = patchOf(o.Ref, op{"replace", "/data/" + configKey, text})
		out = append(out, r)
	}
	return out
}

// mappingNames are the quota resources a class may be mapped to: those mapped already, then others the queue covers.
func (f *Finder) mappingNames(x *subject) []string {
	var out []string
	for _, m := range f.conf.Mappings() {
		out = append(out, string(m.Name))
	}
	if queue := f.queue(x.Charge.ClusterQueue); queue != nil {
		for _, g := range queue.Spec.ResourceGroups {
			for _, name := range g.CoveredResources {
				ordinary := name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
					name == corev1.ResourcePods || name == corev1.ResourceEphemeralStorage
				if !ordinary && !slices.Contains(out, string(name)) {
					out = append(out, string(name))
				}
			}
		}
	}
	return out
}

// mapped is the configuration with the class in a mapping.
func mapped(text, class, name string) (string, bool) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", false
	}
	resources, _ := doc["resources"].(map[string]any)
	if resources == nil {
		resources = map[string]any{}
		doc["resources"] = resources
	}
	mappings, _ := resources["deviceClassMappings"].([]any)
	found := false
	for _, m := range mappings {
		if m, ok := m.(map[string]any); ok && m["name"] == name {
			classes, _ := m["deviceClassNames"].([]any)
			m["deviceClassNames"], found = append(classes, class), true
		}
	}
	if !found {
		mappings = append(mappings, map[string]any{"name": name, "deviceClassNames": []any{class}})
	}
	resources["deviceClassMappings"] = mappings
	out, err := yaml.Marshal(doc)
	return string(out), err == nil
}

// editTemplate changes what Kueue refuses in a claim template: how devices are asked for, or how many.
func (f *Finder) editTemplate(x *subject) []Remedy {
	if len(x.Charge.Problems) == 0 {
		return nil
	}
	p := x.Charge.Problems[0]
	var out []Remedy
	for _, o := range f.templates(x.Charge.Workload) {
		template := cluster.As[*resourcev1.ResourceClaimTemplate](o)
		ops, what := templateOps(template, p)
		if len(ops) == 0 {
			continue
		}
		r := Remedy{Action: fmt.Sprintf("ResourceClaimTemplate %s: %s", o.Ref.Name, what),
			Effect: "its spec can't be changed: delete and create it again, then touch the Workload"}
		r.Changes, _ = patchOf(o.Ref, ops...)
		out = append(out, r)
	}
	return out
}

// makeClass creates a DeviceClass that claims name and that does not exist.
func (f *Finder) makeClass(x *subject) []Remedy {
	for _, p := range x.Charge.Problems {
		name := firstField(p, "name", message.ObjectNotFound)
		if p.Code != charge.CodeDeviceClassNotFound || name == "" {
			continue
		}
		class := &resourcev1.DeviceClass{}
		class.Name = name
		ref := cluster.Ref{APIVersion: resourcev1.SchemeGroupVersion.String(), Kind: cluster.DeviceClass.Kind,
			Name: name}
		return []Remedy{{
			Action: "create DeviceClass " + name +
				" (with a selector for its driver)", Effect: "the claim names it, and it does not exist",
			Changes: []cluster.Change{{Ref: ref, Create: class}},
		}}
	}
	return nil
}

// copyTemplate brings a claim template over from another namespace.
func (f *Finder) copyTemplate(x *subject) []Remedy {
	var out []Remedy
	for _, p := range x.Charge.Problems {
		name := firstField(p, "name", message.ObjectNotFound)
		if p.Code != charge.CodeTemplateNotFound || name == "" {
			continue
		}
		for o, t := range cluster.All[*resourcev1.ResourceClaimTemplate](f.snap, cluster.ResourceClaimTemplate) {
			if o.Ref.Name != name {
				continue
			}
			ref, own := o.Ref, t.DeepCopy()
			ref.Namespace = x.Charge.Workload.Namespace
			own.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: ref.Namespace}
			out = append(out, Remedy{
				Action: fmt.Sprintf("copy ResourceClaimTemplate %s from namespace %s to %s", name, o.Ref.Namespace,
					ref.Namespace), Effect: "templates are looked up in the workload's own namespace",
				Changes: []cluster.Change{{Ref: ref, Create: own}},
			})
		}
	}
	return out
}

// plainResource takes the extended resource name off a class that is charged by counters or capacity.
func (f *Finder) plainResource(x *subject) []Remedy {
	for _, p := range x.Charge.Problems {
		if class := firstField(p, "class", message.ExtendedHasSources); p.Code == charge.CodeSourceBackedExtended &&
			class != "" {
			o := f.snap.Get(cluster.DeviceClass, "", class)
			if o == nil {
				return nil
			}
			r := Remedy{Action: "DeviceClass " + class + ": take extendedResourceName away, or ask for it through a " +
				"ResourceClaimTemplate",
				Effect: "the name is then charged as it is"}
			r.Changes, r.Patch = patchOf(o.Ref, op{"remove", "/spec/extendedResourceName", nil})
			return []Remedy{r}
		}
	}
	return nil
}

// enableDevices turns the feature gates on that charge claims.
func (f *Finder) enableDevices(x *subject) []Remedy {
	o := f.snap.Get(f.conf.Ref.GroupKind(), f.conf.Ref.Namespace, f.conf.Ref.Name)
	cm := cluster.As[*corev1.ConfigMap](o)
	off := slices.ContainsFunc(x.Charge.Problems,
		func(p charge.Problem) bool { return p.Code == charge.CodeDRADisabled })
	if !off || cm == nil {
		return nil
	}
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(cm.Data[configKey]), &doc); err != nil {
		return nil
	}
	gates, _ := doc["featureGates"].(map[string]any)
	maps.DeleteFunc(gates,
		func(name string, on any) bool { return strings.HasPrefix(name, "KueueDRAIntegration") && on == false })
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil
	}
	r := Remedy{Action: "turn the feature gates KueueDRAIntegration… on in " + f.conf.From +
		", then restart the Kueue manager", Effect: "claims are refused while they are off"}
	r.Changes, _ = patchOf(o.Ref, op{"replace", "/data/" + configKey, string(text)})
	return []Remedy{r}
}

// templates lists the claim templates that the pods name.
func (f *Finder) templates(w *workload.Workload) []*cluster.Object {
	var out []*cluster.Object
	for _, ps := range w.PodSets {
		for _, c := range ps.Template.Spec.ResourceClaims {
			if c.ResourceClaimTemplateName == nil {
				continue
			}
			if o := f.snap.Get(cluster.ResourceClaimTemplate, w.Namespace, *c.ResourceClaimTemplateName); o != nil &&
				!slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	return out
}

// firstField is a field of the first part of Kueue's message that has the code; empty when none has.
func firstField(p charge.Problem, field string, code message.Code) string {
	if found := message.Find(p.KueueMessage, code); len(found) > 0 {
		return found[0].Field(field)
	}
	return ""
}

// templateOps is the edit that answers a refusal.
func templateOps(t *resourcev1.ResourceClaimTemplate, p charge.Problem) (ops []op, what string) {
	few := message.Find(p.KueueMessage, message.TooFewOfClass, message.TooFewOfSource)
	for i, q := range t.Spec.Spec.Devices.Requests {
		at := fmt.Sprintf("/spec/spec/devices/requests/%d", i)
		switch {
		case p.Code == charge.CodeFirstAvailable && len(q.FirstAvailable) > 0:
			first := q.FirstAvailable[0]
			exactly := resourcev1.ExactDeviceRequest{DeviceClassName: first.DeviceClassName, Selectors: first.Selectors,
				AllocationMode: first.AllocationMode, Count: first.Count}
			ops = append(ops, op{"remove", at + "/firstAvailable", nil}, op{"add", at + "/exactly", exactly})
			what = "ask exactly for the first of its alternatives"
		case q.Exactly == nil:
		case p.Code == charge.CodeAdminAccess && q.Exactly.AdminAccess != nil:
			ops, what = append(ops, op{"remove", at + "/exactly/adminAccess", nil}), "ask without adminAccess"
		case p.Code == charge.CodeAllocationMode && q.Exactly.AllocationMode == resourcev1.DeviceAllocationModeAll:
			ops = append(ops,
				op{"replace", at + "/exactly/allocationMode",
					string(resourcev1.DeviceAllocationModeExactCount)}, op{"add", at + "/exactly/count", 1})
			what = "ask for a count of devices instead of all"
		case (p.Code == charge.CodeSelectorFails || p.Code == charge.CodeInvalidSelector || few != nil &&
			few[0].Field("matching") == "0") && len(q.Exactly.Selectors) > 0:
			ops, what = append(ops, op{"remove", at + "/exactly/selectors", nil}), "ask without the CEL selectors, "+
				"which no device passes"
		case few != nil:
			have, _ := strconv.ParseInt(few[0].Field("matching"), 10, 64)
			want, _ := strconv.ParseInt(few[0].Field("asked"), 10, 64)
			if have > 0 && q.Exactly.Count == want {
				ops, what = append(ops,
					op{"replace", at + "/exactly/count", have}), fmt.Sprintf("ask for %d devices, as many as match, "+
					"instead of %d", have, want)
			}
		}
	}
	return ops, what
}

// podsReady waits for the pods of workloads that were admitted before, where Kueue starts one at a time.
func (f *Finder) podsReady(x *subject) []Remedy {
	if x.Predicted.Message != "waiting for all admitted workloads to be in PodsReady condition" {
		return nil
	}
	r := Remedy{Effect: "waitForPodsReady.blockAdmission starts one workload at a time, in the order of the queue"}
	var names []string
	for _, c := range f.engine.NotReady() {
		w := c.Workload
		names = append(names, w.Namespace+"/"+explain.DisplayName(c))
		ready := map[string]any{"type": "PodsReady", "status": "True", "reason": "PodsReady",
			"message": "All pods are ready", "lastTransitionTime": nil}
		write := op{"add", "/status/conditions/-", ready}
		if i := slices.IndexFunc(w.Object.Status.Conditions,
			func(c metav1.Condition) bool { return c.Type == kueue.WorkloadPodsReady }); i >= 0 {
			write = op{"replace", fmt.Sprintf("/status/conditions/%d", i), ready}
		}
		r.Changes = append(r.Changes, cluster.Change{Ref: w.Record.Ref, Patch: operations(write)})
	}
	r.Action = "wait until the pods of " + strings.Join(names, ", ") + " are ready"
	return []Remedy{r}
}
