package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const (
	sparkDriverContainer   = "spark-kubernetes-driver"
	sparkExecutorContainer = "spark-kubernetes-executor"
)

// sparkKind is SparkApplication: a driver and its executors, from templates Kueue makes up.
var sparkKind = &kind{
	Kind:    jobs.SparkApplication,
	podSets: sparkPodSets, suspended: sparkSuspended, ended: sparkEnded,
}

// javaUnits are the endings of Java memory sizes. Only lower-case ones are understood.
var javaUnits = []struct{ java, kubernetes string }{
	{"kb", "Ki"}, {"mb", "Mi"}, {"gb", "Gi"}, {"tb", "Ti"}, {"pb", "Pi"},
	{"k", "Ki"}, {"m", "Mi"}, {"g", "Gi"}, {"t", "Ti"}, {"p", "Pi"},
}

func sparkPodSets(f *finder, o *cluster.Object) shape {
	app := cluster.As[*crd.SparkApplication](o)
	if app == nil {
		return unreadable(o)
	}
	var s shape
	for _, role := range []struct {
		name, container string
		count           int32
		pod             *crd.SparkPod
	}{
		{"driver", sparkDriverContainer, 1, &app.Spec.Driver.SparkPod},
		// Dynamic allocation is not looked at.
		{"executor", sparkExecutorContainer, deref(app.Spec.Executor.Instances, 0), &app.Spec.Executor.SparkPod},
	} {
		path := "spec." + role.name
		pod := role.pod
		var err error
		if f.cfg.Behavior.SparkOverheadCharged {
			pod, err = asSparkRequests(&app.Spec, role.name, pod)
		}
		var template *corev1.PodTemplateSpec
		if err == nil {
			template, err = sparkTemplate(pod, role.container)
		}
		if err != nil {
			return broken(reason(NoPodSets, "Its "+role.name+" can't be priced: "+err.Error()+".", o, path))
		}
		s.podSets = append(s.podSets,
			PodSet{Name: role.name, Count: role.count, Template: template, Source: o, Path: path})
	}
	return s
}

// sparkTemplate builds the pod: cpu from coreRequest, memory as it stands, the GPU as a limit.
func sparkTemplate(p *crd.SparkPod, container string) (*corev1.PodTemplateSpec, error) {
	main := corev1.Container{Name: container}
	for _, q := range []struct {
		value    *string
		name     corev1.ResourceName
		into     *corev1.ResourceList
		isMemory bool
	}{
		{p.CoreRequest, corev1.ResourceCPU, &main.Resources.Requests, false},
		{p.CoreLimit, corev1.ResourceCPU, &main.Resources.Limits, false},
		{p.Memory, corev1.ResourceMemory, &main.Resources.Requests, true},
		{p.MemoryLimit, corev1.ResourceMemory, &main.Resources.Limits, true},
	} {
		if q.value == nil {
			continue
		}
		text := *q.value
		if q.isMemory {
			text = fromJavaMemory(text)
		}
		amount, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("%s %q is no quantity", q.name, *q.value)
		}
		setQuantity(q.into, q.name, amount)
	}
	if g := p.GPU; g != nil && g.Name != "" && g.Quantity > 0 {
		setQuantity(&main.Resources.Limits, corev1.ResourceName(g.Name),
			*resource.NewQuantity(g.Quantity, resource.DecimalSI))
	}
	spec := corev1.PodSpec{
		Containers: append([]corev1.Container{main},
			distinct(p.Sidecars, main)...), InitContainers: distinct(p.InitContainers),
		NodeSelector: p.NodeSelector, Affinity: p.Affinity, Tolerations: p.Tolerations,
		PriorityClassName: deref(p.PriorityClassName, ""),
	}
	return &corev1.PodTemplateSpec{ObjectMeta: sparkMeta(p), Spec: spec}, nil
}

func sparkMeta(p *crd.SparkPod) metav1.ObjectMeta {
	if p.Template == nil {
		return metav1.ObjectMeta{Labels: p.Labels, Annotations: p.Annotations}
	}
	meta := *p.Template.ObjectMeta.DeepCopy()
	meta.Labels = merged(meta.Labels, p.Labels)
	meta.Annotations = merged(meta.Annotations, p.Annotations)
	return meta
}

func merged(base, over map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}

// distinct leaves out containers that equal an earlier one in name and image.
func distinct(containers []corev1.Container, before ...corev1.Container) []corev1.Container {
	var out []corev1.Container
	for _, c := range containers {
		same := func(other corev1.Container) bool { return other.Name == c.Name && other.Image == c.Image }
		if !slices.ContainsFunc(before, same) && !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	return out
}

func setQuantity(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}

// fromJavaMemory turns 512m into 512Mi. An ending in capitals is recognised but not removed, as in the Spark operator,
// and what comes out is no quantity.
func fromJavaMemory(s string) string {
	for _, unit := range javaUnits {
		if strings.HasSuffix(strings.ToLower(s), unit.java) {
			return strings.TrimSuffix(s, unit.java) + unit.kubernetes
		}
	}
	return s
}

func sparkSuspended(o *cluster.Object) bool {
	app := cluster.As[*crd.SparkApplication](o)
	return app != nil && deref(app.Spec.Suspend, false)
}

func sparkEnded(o *cluster.Object) bool {
	app := cluster.As[*crd.SparkApplication](o)
	return app != nil &&
		slices.Contains([]string{"COMPLETED", "FAILED", "SUBMISSION_FAILED"}, app.Status.AppState.State)
}
