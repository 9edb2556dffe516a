package workload

import (
	"cmp"

	schedulingv1 "k8s.io/api/scheduling/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

const (
	priorityLabel       = "kueue.x-k8s.io/priority-class"
	defaultClassForJobs = "default"
)

// builtinClasses exist in every cluster.
var builtinClasses = map[string]int32{
	"system-cluster-critical": 2_000_000_000,
	"system-node-critical":    2_000_001_000,
}

// prioritise resolves the priority of a job without Workload object: the WorkloadPriorityClass of its label, else the
// PriorityClass by the rule of its kind, else the global default, else 0.
func (f *finder) prioritise(k *kind, o *cluster.Object, w *Workload) {
	if class := f.priorityLabelOf(o); class != "" {
		f.byWorkloadClass(w, class)
		return
	}
	class := ""
	if k.priorityClass != nil {
		class = k.priorityClass(o)
	} else {
		class = classOfPodSets(w.PodSets)
	}
	f.byPodClass(w, class)
}

// priorityLabelOf is the label, or the class `default` where the version gives it to unlabelled new jobs.
func (f *finder) priorityLabelOf(o *cluster.Object) string {
	if class := o.Meta.Labels[priorityLabel]; class != "" {
		return class
	}
	if fresh(o) && f.cfg.Behavior.WPCDefaulting && !f.ownedByEnabledKind(o) &&
		f.snap.Get(cluster.WorkloadPriorityClass, "", defaultClassForJobs) != nil {
		return defaultClassForJobs
	}
	return ""
}

func classOfPodSets(podSets []PodSet) string {
	for _, ps := range podSets {
		if ps.Template != nil && ps.Template.Spec.PriorityClassName != "" {
			return ps.Template.Spec.PriorityClassName
		}
	}
	return ""
}

func (f *finder) byWorkloadClass(w *Workload, name string) {
	w.PriorityClass = name
	class, _, ok := cluster.Lookup[*kueue.WorkloadPriorityClass](f.snap, cluster.WorkloadPriorityClass, "", name)
	if ok {
		w.Priority = class.Value
		return
	}
	f.classNotFound(w, cluster.WorkloadPriorityClass.Kind, name, f.snap.Coverage.Has(cluster.WorkloadPriorityClass))
}

func (f *finder) byPodClass(w *Workload, name string) {
	if name == "" {
		f.byGlobalDefault(w)
		return
	}
	w.PriorityClass = name
	class, _, ok := cluster.Lookup[*schedulingv1.PriorityClass](f.snap, cluster.PriorityClass, "", name)
	if ok {
		w.Priority = class.Value
		return
	}
	if value, builtin := builtinClasses[name]; builtin {
		w.Priority = value
		return
	}
	f.classNotFound(w, cluster.PriorityClass.Kind, name, f.snap.Coverage.Has(cluster.PriorityClass))
}

// classNotFound: without its class Kueue makes no Workload. When no class of the kind is in the input, it may well
// exist.
func (f *finder) classNotFound(w *Workload, kind, name string, held bool) {
	if !held {
		w.PriorityMissing = kind
		return
	}
	if w.State == Managed {
		w.State = Stuck
		w.Reasons = append(w.Reasons, reason(PriorityClassNotFound, kind+" "+name+" does not exist; Kueue makes no "+
			"Workload without it.", w.Owner, priorityLabelPath))
	}
}

// byGlobalDefault takes the PriorityClass marked globalDefault; of several, the one with the lowest value.
func (f *finder) byGlobalDefault(w *Workload) {
	var found *schedulingv1.PriorityClass
	for _, class := range cluster.All[*schedulingv1.PriorityClass](f.snap, cluster.PriorityClass) {
		if class.GlobalDefault && (found == nil || cmp.Compare(class.Value, found.Value) < 0) {
			found = class
		}
	}
	if found != nil {
		w.PriorityClass, w.Priority = found.Name, found.Value
	}
}
