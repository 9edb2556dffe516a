package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/utils/ptr"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

const (
	roleAnnotation = "kueue.x-k8s.io/role-hash"
	roleLength     = 8
	evictAfter     = 300 // seconds, the API server's default for the two tolerations
)

// roleOf is the role of a pod of a group: what the webhook noted, else the hash it would note.
func (f *finder) roleOf(o *cluster.Object) string {
	if role := o.Meta.Annotations[roleAnnotation]; role != "" {
		return podSetName(role)
	}
	pod := cluster.As[*corev1.Pod](o)
	spec := pod.Spec
	if fresh(o) {
		spec = f.arrived(pod)
	}
	return roleHash(&spec)
}

// roleHash is the hash Kueue tells roles by: of requests and ports, and of what decides about nodes and priority.
// Images, commands, names, labels and limits make no difference.
func roleHash(spec *corev1.PodSpec) string {
	shape := map[string]any{
		"initContainers": containerShapes(spec.InitContainers), "containers": containerShapes(spec.Containers),
		"nodeSelector": spec.NodeSelector, "affinity": spec.Affinity, "tolerations": spec.Tolerations,
		"runtimeClassName": spec.RuntimeClassName, "priority": spec.Priority,
		"topologySpreadConstraints": spec.TopologySpreadConstraints, "overhead": spec.Overhead,
		"resourceClaims": spec.ResourceClaims,
	}
	if spec.Resources != nil {
		shape["resources"] = spec.Resources.Requests
	}
	data, err := json.Marshal(map[string]any{"spec": shape})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:roleLength]
}

func containerShapes(containers []corev1.Container) []map[string]any {
	var out []map[string]any
	for i := range containers {
		out = append(out, map[string]any{
			"resources": map[string]any{"requests": containers[i].Resources.Requests},
			"ports":     containers[i].Ports,
		})
	}
	return out
}

// arrived completes a pod spec as the API server does before the webhook sees it, in what the role depends on:
// default tolerations, the priority's value, the runtime class's overhead, ports.
func (f *finder) arrived(pod *corev1.Pod) corev1.PodSpec {
	spec := *pod.Spec.DeepCopy()
	var w Workload
	f.byPodClass(&w, spec.PriorityClassName)
	if spec.Priority == nil {
		spec.Priority = &w.Priority
	}
	if name := deref(spec.RuntimeClassName, ""); name != "" && len(spec.Overhead) == 0 {
		if class, _, ok := cluster.Lookup[*nodev1.RuntimeClass](f.snap, cluster.RuntimeClass, "", name); ok &&
			class.Overhead != nil {
			spec.Overhead = class.Overhead.PodFixed
		}
	}
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !tolerates(pod.Spec.Tolerations, taint) {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
				Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: ptr.To[int64](evictAfter),
			})
		}
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			defaultPorts(containers[i].Ports, spec.HostNetwork)
		}
	}
	return spec
}

func tolerates(tolerations []corev1.Toleration, taint string) bool {
	for _, t := range tolerations {
		if (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return true
		}
	}
	return false
}

func defaultPorts(ports []corev1.ContainerPort, hostNetwork bool) {
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = corev1.ProtocolTCP
		}
		if hostNetwork && ports[i].HostPort == 0 {
			ports[i].HostPort = ports[i].ContainerPort
		}
	}
}
