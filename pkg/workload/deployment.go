package workload

import (
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const (
	managedLabel = "kueue.x-k8s.io/managed"
	managedValue = "true"
)

// deploymentKind is Deployment: the webhook labels its pod template, and each pod has a Workload of its own.
var deploymentKind = &kind{
	Kind: jobs.Deployment, care: byPods,
	podSets: deploymentPodSets,
}

// deploymentPodSets is the pod set of one of its pods. Pods, unlike templates, get requests from their limits.
func deploymentPodSets(_ *finder, o *cluster.Object) shape {
	d := cluster.As[*appsv1.Deployment](o)
	if d == nil {
		return unreadable(o)
	}
	template := d.Spec.Template.DeepCopy()
	cluster.DefaultPodResources(&template.Spec)
	return shape{podSets: []PodSet{{Name: mainPodSet, Count: 1, Template: template, Source: o, Path: templatePath}}}
}

// deploymentTemplate is the pod template after the webhook has seen the Deployment.
func deploymentTemplate(d *appsv1.Deployment, queue string) *corev1.PodTemplateSpec {
	template := d.Spec.Template.DeepCopy()
	template.Annotations = merged(template.Annotations, map[string]string{parentAnnotation: jobs.Deployment.Framework})
	template.Labels = merged(template.Labels, map[string]string{managedLabel: managedValue})
	for key, value := range map[string]string{queueLabel: queue, priorityLabel: d.Labels[priorityLabel]} {
		if value != "" {
			template.Labels[key] = value
		}
	}
	return template
}

// fromDeployment lists a Deployment. One that Kueue leaves alone is one entry. Of one that it manages the pods in
// the input are listed as Pods; pods that are expected but not in the input (the Deployment was never applied,
// or no Pods were exported) are listed as one workload each, owned by the Deployment and without a
// name, which would come from the pod's.
func (f *finder) fromDeployment(k *kind, o *cluster.Object) {
	d := cluster.As[*appsv1.Deployment](o)
	if d == nil {
		return
	}
	w := newEntry(o)
	f.settle(k, o, w)
	if w.State != Managed && w.State != Undetermined {
		f.add(w)
		return
	}
	n := int(deref(d.Spec.Replicas, 1))
	if pods := f.podsOfDeployment(o); len(pods) > 0 || !fresh(o) &&
		f.snap.Coverage.HasIn(cluster.Pod, o.Ref.Namespace) {
		w.State, w.Missing = Elsewhere, nil
		w.Reasons = append(w.Reasons, reason(PodsAreCharged, fmt.Sprintf(
			"It has no Workload of its own; each of its pods has one (%d of %d pods are in the input).", len(pods),
			n), o, ""))
		f.add(w)
		return
	}
	if n <= 0 {
		w.State = Incomplete
		w.Reasons = append(w.Reasons,
			reason(ScaledToZero, "It has no replicas, so there is no pod to charge.", o, "spec.replicas"))
		f.add(w)
		return
	}
	w.Reasons = append(w.Reasons, reason(NotYetInCluster, "This stands for one of its pods, which are not in the "+
		"input; each has a Workload of its own.", o, "spec.replicas"))
	for i := range min(n, mostListed) {
		pod := *w
		pod.Index = i
		if n > mostListed && i == mostListed-1 {
			pod.Reasons = append(pod.Reasons,
				reason(ListCut, fmt.Sprintf("Of its %d pods only the first %d are listed.", n, mostListed), o,
					"spec.replicas"))
		}
		f.add(&pod)
	}
}

// podsOfDeployment finds the Deployment's pods: those of its ReplicaSets, or, where the ReplicaSet is not in the input,
// those whose ReplicaSet is named after it and whose labels it selects.
func (f *finder) podsOfDeployment(o *cluster.Object) []*cluster.Object {
	return f.deploymentPods()[types.NamespacedName{Namespace: o.Ref.Namespace, Name: o.Ref.Name}]
}

func (f *finder) deploymentPods() map[types.NamespacedName][]*cluster.Object {
	if f.podsByDeployment != nil {
		return f.podsByDeployment
	}
	f.podsByDeployment = map[types.NamespacedName][]*cluster.Object{}
	for _, pod := range f.snap.List(cluster.Pod) {
		ref := metav1.GetControllerOfNoCopy(pod.Meta)
		if ref == nil || ref.Kind != cluster.ReplicaSet.Kind {
			continue
		}
		name := ""
		if rs := f.snap.Get(cluster.ReplicaSet, pod.Ref.Namespace, ref.Name); rs != nil {
			if owner := metav1.GetControllerOfNoCopy(rs.Meta); owner != nil && owner.Kind == cluster.Deployment.Kind {
				name = owner.Name
			}
		} else {
			name = f.deploymentByName(pod, ref.Name)
		}
		if name != "" {
			key := types.NamespacedName{Namespace: pod.Ref.Namespace, Name: name}
			f.podsByDeployment[key] = append(f.podsByDeployment[key], pod)
		}
	}
	return f.podsByDeployment
}

func (f *finder) deploymentByName(pod *cluster.Object, replicaSet string) string {
	cut := strings.LastIndex(replicaSet, "-")
	if cut <= 0 {
		return ""
	}
	d, _, ok := cluster.Lookup[*appsv1.Deployment](f.snap, cluster.Deployment, pod.Ref.Namespace, replicaSet[:cut])
	if !ok {
		return ""
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil || !selector.Matches(labels.Set(maps.Clone(pod.Meta.Labels))) {
		return ""
	}
	return d.Name
}
