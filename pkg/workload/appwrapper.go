package workload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// appWrapperKind is AppWrapper: the pod sets of all wrapped objects, numbered through.
var appWrapperKind = &kind{
	Kind:    jobs.AppWrapper,
	podSets: appWrapperPodSets, suspended: appWrapperSuspended, ended: appWrapperEnded, dropsClaims: true,
}

func appWrapperPodSets(_ *finder, o *cluster.Object) shape {
	aw := cluster.As[*crd.AppWrapper](o)
	if aw == nil {
		return unreadable(o)
	}
	var s shape
	for i := range aw.Spec.Components {
		if problem := wrappedPodSets(aw, i, o, &s); problem != nil {
			return shape{problem: problem}
		}
	}
	return s
}

// wrappedPodSets adds the pod sets of one component. Those noted in the status win over the spec.
func wrappedPodSets(aw *crd.AppWrapper, i int, o *cluster.Object, s *shape) *Reason {
	path := fmt.Sprintf("spec.components[%d].template", i)
	component := &aw.Spec.Components[i]
	var declared []crd.AppWrapperPodSet
	noted := len(aw.Status.ComponentStatus) == len(aw.Spec.Components)
	if noted {
		declared = aw.Status.ComponentStatus[i].PodSets
	} else {
		declared = component.PodSets
	}
	if noted && len(declared) == 0 {
		return nil
	}
	var wrapped map[string]any
	if err := json.Unmarshal(component.Template, &wrapped); err != nil {
		r := reason(NoPodSets, "A wrapped object can't be read: "+err.Error()+".", o, path)
		return &r
	}
	if len(declared) == 0 {
		inferred, err := inferPodSets(wrapped)
		if err != nil {
			r := reason(NoPodSets, "The pods of a wrapped object can't be found: "+err.Error()+".", o, path)
			return &r
		}
		declared = inferred
	}
	for _, d := range declared {
		template, lost, err := wrappedTemplate(wrapped, d.Path)
		if err != nil {
			// A declared path that leads nowhere is passed over in silence.
			continue
		}
		s.lostClaims = s.lostClaims || lost
		s.podSets = append(s.podSets, PodSet{
			Name: podSetName(fmt.Sprintf("%s-%d", aw.Name, len(s.podSets))), Count: deref(d.Replicas, 1),
			Template: template, Source: o, Path: path + strings.TrimPrefix(d.Path, "template"),
		})
	}
	return nil
}

// wrappedTemplate copies the pod template at a path. The integration copies only part of the spec; what it
// leaves out (resource claims, the restart policy of init containers, the runtime class, pod-level
// resources) is not charged. lost tells that claims were among it.
func wrappedTemplate(wrapped map[string]any, path string) (template *corev1.PodTemplateSpec, lost bool, err error) {
	at, err := mapAt(wrapped, path)
	if err != nil {
		return nil, false, err
	}
	raw, ok := at["spec"].(map[string]any)
	if !ok {
		return nil, false, fmt.Errorf("%s has no spec", path)
	}
	var src corev1.PodSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(raw, &src, true); err != nil {
		return nil, false, fmt.Errorf("%s.spec is no pod spec: %w", path, err)
	}
	template = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: copiedContainers(src.InitContainers), Containers: copiedContainers(src.Containers),
		RestartPolicy: src.RestartPolicy, NodeSelector: src.NodeSelector, NodeName: src.NodeName,
		Affinity:    src.Affinity,
		Tolerations: src.Tolerations, PriorityClassName: src.PriorityClassName, PreemptionPolicy: src.PreemptionPolicy,
		SchedulerName: src.SchedulerName, Overhead: roundedUp(src.Overhead),
		TopologySpreadConstraints: src.TopologySpreadConstraints,
	}}
	if metadata, ok := at["metadata"].(map[string]any); ok {
		template.Labels, template.Annotations = stringsAt(metadata["labels"]), stringsAt(metadata["annotations"])
	}
	return template, len(src.ResourceClaims) > 0, nil
}

func copiedContainers(src []corev1.Container) []corev1.Container {
	var dst []corev1.Container
	for i := range src {
		dst = append(dst, corev1.Container{
			Name: src[i].Name, Image: src[i].Image,
			Resources: corev1.ResourceRequirements{
				Requests: roundedUp(src[i].Resources.Requests), Limits: roundedUp(src[i].Resources.Limits),
			},
		})
	}
	return dst
}

// roundedUp rounds amounts up to a thousandth, as the API server does.
func roundedUp(list corev1.ResourceList) corev1.ResourceList {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
	return list
}

func stringsAt(v any) map[string]string {
	in, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for key, value := range in {
		if s, ok := value.(string); ok {
			out[key] = s
		}
	}
	return out
}

func appWrapperSuspended(o *cluster.Object) bool {
	aw := cluster.As[*crd.AppWrapper](o)
	return aw != nil && aw.Spec.Suspend
}

func appWrapperEnded(o *cluster.Object) bool {
	aw := cluster.As[*crd.AppWrapper](o)
	if aw == nil {
		return false
	}
	return aw.Status.Phase == "Succeeded" ||
		aw.Status.Phase == "Failed" && !conditionTrue(aw.Status.Conditions, "ResourcesDeployed")
}
