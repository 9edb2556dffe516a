// Workloads the scheduler treats alike. Mirrors pkg/workload (SchedulingHash).

package admission

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// schedulingHash is equal for workloads between which the scheduler makes no difference; empty when the version does
// not compare. It is made when it is first asked for: most workloads are only looked at for what they hold.
func (wl *schedulerWorkload) schedulingHash() string {
	if wl.hashed && wl.hash == "" {
		wl.hash = wl.computeHash()
	}
	return wl.hash
}

// computeHash is equal for workloads that the scheduler treats alike.
func (wl *schedulerWorkload) computeHash() string {
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
	}{Priority: wl.priority}
	for i := range wl.sets {
		ps := &wl.sets[i]
		one := set{Count: ps.count, MinCount: ps.minCount, Group: ps.group, Topology: ps.topology}
		if !wl.namesIgnored {
			one.Name = ps.name
		}
		for _, r := range ps.requests {
			one.Requests = append(one.Requests, string(r.name), quotaString(r.total))
		}
		one.Spec = hashedSpec(ps.spec)
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

// hashedSpec keeps what of a pod spec the scheduler looks at.
func hashedSpec(in *corev1.PodSpec) corev1.PodSpec {
	if in == nil {
		return corev1.PodSpec{}
	}
	out := corev1.PodSpec{
		NodeSelector: in.NodeSelector, Affinity: in.Affinity, Tolerations: in.Tolerations,
		RuntimeClassName: in.RuntimeClassName,
		Priority:         in.Priority, TopologySpreadConstraints: in.TopologySpreadConstraints, Overhead: in.Overhead,
		ResourceClaims: in.ResourceClaims,
	}
	containers := func(in []corev1.Container) []corev1.Container {
		var out []corev1.Container
		for i := range in {
			out = append(
				out,
				corev1.Container{Resources: corev1.ResourceRequirements{Requests: in[i].Resources.Requests},
					Ports: in[i].Ports},
			)
		}
		return out
	}
	out.InitContainers, out.Containers = containers(in.InitContainers), containers(in.Containers)
	if in.Resources != nil {
		out.Resources = &corev1.ResourceRequirements{Requests: in.Resources.Requests}
	}
	return out
}
