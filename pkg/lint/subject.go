package lint

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Subject is the object people know a workload by: the job, else the Workload.
func Subject(w *workload.Workload) Place {
	switch {
	case w.Owner != nil:
		return At(w.Owner, "metadata.name")
	case w.Record != nil:
		return At(w.Record, "metadata.name")
	}
	return Place{Ref: w.OwnerRef}
}

// QueueName is the place where a workload names its queue.
func QueueName(w *workload.Workload) Place {
	switch {
	case w.Owner != nil && w.Owner.Meta.Labels[QueueLabel] != "":
		return At(w.Owner, QueueLabelPath)
	case w.Record != nil:
		return At(w.Record, "spec.queueName")
	}
	return Subject(w)
}

// QueueLabel is the label that names a job's LocalQueue, and QueueLabelPath the path of its value.
const (
	QueueLabel     = "kueue.x-k8s.io/queue-name"
	QueueLabelPath = `metadata.labels["` + QueueLabel + `"]`
)

// reserved tells that a workload holds quota, or has ended.
func reserved(w *workload.Workload) bool {
	if w.Object == nil {
		return false
	}
	of := w.Object.Status.Conditions
	return apimeta.IsStatusConditionTrue(of, kueue.WorkloadQuotaReserved) ||
		apimeta.IsStatusConditionTrue(of, kueue.WorkloadFinished)
}

// Waits tells that a workload is Kueue's to admit and does not hold quota yet.
func Waits(w *workload.Workload) bool { return w.State.MakesWorkload() && !reserved(w) }

// PodTemplate is a pod template of the input.
type PodTemplate struct {
	Workload *workload.Workload
	PodSet   *workload.PodSet
}

// Spec of the pods.
func (t PodTemplate) Spec() *corev1.PodSpec { return &t.PodSet.Template.Spec }

// Namespace of the pods.
func (t PodTemplate) Namespace() string { return t.Workload.Namespace }

// At is the place of a field of the template, such as `spec.containers[0]`.
func (t PodTemplate) At(path string) Place {
	if t.PodSet.Source == nil {
		return Subject(t.Workload)
	}
	return At(t.PodSet.Source, t.PodSet.FieldPath(path))
}

// PodTemplates yields every pod template once: those of jobs, not of the pods and Workloads made of them.
func (f *Facts) PodTemplates() iter.Seq[PodTemplate] {
	type place struct {
		source *cluster.Object
		path   string
	}
	return func(yield func(PodTemplate) bool) {
		seen := map[place]bool{}
		for _, w := range f.Workloads() {
			if w.State == workload.Elsewhere && w.Via.Kind != "" || reserved(w) && w.Owner == nil {
				continue
			}
			for i := range w.PodSets {
				ps := &w.PodSets[i]
				at := place{ps.Source, ps.Path}
				if ps.Template == nil || seen[at] {
					continue
				}
				seen[at] = true
				if !yield(PodTemplate{w, ps}) {
					return
				}
			}
		}
	}
}
