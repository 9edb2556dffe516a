// Workloads the scheduler treats alike. Mirrors pkg/workload (SchedulingHash).

package admission

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// shape is equal for workloads that the scheduler can't tell apart; empty when the version does not compare. It is made
// when it is first asked for: most workloads are only looked at for what they hold.
func (it *item) shape() string {
	if it.compared && it.shapeText == "" {
		it.shapeText = it.shapeOf()
	}
	return it.shapeText
}

// shapeOf is equal for workloads that the scheduler treats alike.
func (it *item) shapeOf() string {
	type set struct {
		Name        string
		Count       int32
		MinCount    *int32
		Requests    []string
		Spec        corev1.PodSpec
		Group       string
		Topology    bool
		Annotations map[string]string
	}
	shape := struct {
		Priority int64
		Sets     []set
	}{Priority: it.priority}
	for i := range it.sets {
		ps := &it.sets[i]
		one := set{Name: ps.name, Count: ps.count, MinCount: ps.minCount, Group: ps.group, Topology: ps.topology}
		for _, r := range ps.requests {
			one.Requests = append(one.Requests, string(r.name), quotaString(r.total))
		}
		one.Spec = specShape(ps.spec)
		shape.Sets = append(shape.Sets, one)
	}
	text, err := json.Marshal(shape)
	if err != nil {
		return ""
	}
	return string(text)
}

func quotaString(v int64) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// specShape keeps what of a pod spec the scheduler looks at.
func specShape(in *corev1.PodSpec) corev1.PodSpec {
	if in == nil {
		return corev1.PodSpec{}
	}
	out := corev1.PodSpec{
		NodeSelector: in.NodeSelector, Affinity: in.Affinity, Tolerations: in.Tolerations, RuntimeClassName: in.RuntimeClassName,
		Priority: in.Priority, TopologySpreadConstraints: in.TopologySpreadConstraints, Overhead: in.Overhead, ResourceClaims: in.ResourceClaims,
	}
	containers := func(in []corev1.Container) []corev1.Container {
		var out []corev1.Container
		for i := range in {
			out = append(out, corev1.Container{Resources: corev1.ResourceRequirements{Requests: in[i].Resources.Requests}, Ports: in[i].Ports})
		}
		return out
	}
	out.InitContainers, out.Containers = containers(in.InitContainers), containers(in.Containers)
	if in.Resources != nil {
		out.Resources = &corev1.ResourceRequirements{Requests: in.Resources.Requests}
	}
	return out
}
