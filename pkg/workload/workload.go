package workload

import (
	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// State says how Kueue treats a job.
type State string

const (
	// Managed: Kueue makes (or has made) a Workload and charges it.
	Managed State = "Managed"
	// Unmanaged: Kueue does not look at it; it runs free of quota.
	Unmanaged State = "Unmanaged"
	// Stuck: a webhook suspends or gates it, but no Workload is ever made: it waits for ever, uncharged.
	Stuck State = "Stuck"
	// Incomplete: Kueue waits for more before it makes a Workload (a pod group short of pods, a missing
	// prebuilt workload); nothing is charged yet.
	Incomplete State = "Incomplete"
	// Elsewhere: its pods are charged, but through the Workloads of other objects: a child through its owner's,
	// a Deployment through those of its pods. Via names the object where it is one.
	Elsewhere State = "Elsewhere"
	// Rejected: a Kueue webhook refuses the object at creation, so it never exists in the cluster.
	// Only objects that never passed an API server can be rejected.
	Rejected State = "Rejected"
	// Undetermined: the evidence to decide is not in the input; Missing says what.
	Undetermined State = "Undetermined"
)

// MakesWorkload tells that Kueue has made a Workload for the job itself, or will. For Undetermined it is not known;
// with every other state there is none to be charged.
func (s State) MakesWorkload() bool { return s == Managed }

// Workload is what Kueue queues and charges as one unit.
type Workload struct {
	// Object is the Workload object and Record its record; nil when the input holds none
	// and the workload was made here from its owner.
	Object *kueue.Workload
	Record *cluster.Object
	// Owner is the job (for a pod group the first pod, by name); nil when it is not in the input.
	Owner *cluster.Object
	// OwnerRef names the owner. For a pod group it is {v1, PodGroup, namespace, group name}. It may name an owner that
	// is not in the input; it is zero for a Workload without owner.
	OwnerRef cluster.Ref
	// Members are the pods of a pod group, sorted by name.
	Members []*cluster.Object
	// Index is the replica of a LeaderWorkerSet this workload stands for, or counts the pods of a Deployment
	// that are not in the input; else -1.
	Index int

	Namespace string
	// Name is the Workload's name: of the object, or the name Kueue would give.
	Name string
	// Queue is the LocalQueue's name; it may be empty.
	Queue string
	// PriorityClass and Priority as Kueue resolves them.
	PriorityClass string
	Priority      int32
	// PriorityMissing is the kind ("PriorityClass", "WorkloadPriorityClass") whose absence from the input leaves
	// Priority unknown; empty when it is known. The charge does not depend on it.
	PriorityMissing string
	// Active is false for spec.active=false.
	Active bool

	State State
	// Reasons say in plain words why State is what it is, each a full sentence.
	Reasons []Reason
	// Missing lists the kinds whose absence from the input keeps State or PodSets undetermined.
	Missing []string
	// Via names the object through whose Workload the pods are charged, when State is Elsewhere.
	Via cluster.Ref

	PodSets []PodSet
	// LostClaims tells that the kind's integration drops resourceClaims (AppWrapper), so devices are free.
	LostClaims bool
}

// Reason is one stated fact about a workload, with the place it was read from.
type Reason struct {
	// Code is stable and machine readable, for example NamespaceNotSelected.
	Code string
	// Text is a sentence for people.
	Text string
	// Object and Path point at the evidence; Object may be zero.
	Object cluster.Ref
	Path   string
}

// PodSet is a group of equal pods.
type PodSet struct {
	Name string
	// Count of pods, before reclaimable pods are taken off.
	Count int32
	// MinCount is set when partial admission may lower Count.
	MinCount *int32
	// Reclaimable pods have ended and no longer use quota. At most Count where the version clamps it.
	Reclaimable int32
	// Template is the pod template that is charged. Shared, not to be changed.
	Template *corev1.PodTemplateSpec
	// Source is the object the template was read from and Path the field path of the template in it,
	// for evidence (`spec.template` for a Job). Path is empty for a Pod, which is its own template.
	// Where Kueue synthesises the template (SparkApplication, a TrainJob's resources) Path is the nearest field.
	Source *cluster.Object
	Path   string
}

// FieldPath is the path in Source of a field of the template, such as `spec.containers[0]`.
func (p PodSet) FieldPath(field string) string {
	if p.Path == "" {
		return field
	}
	return p.Path + "." + field
}

// Ref names the Workload object; APIVersion and Kind are set even when the object does not exist.
func (w *Workload) Ref() cluster.Ref {
	return cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Namespace: w.Namespace,
		Name: w.Name}
}
