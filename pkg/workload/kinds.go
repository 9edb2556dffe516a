package workload

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// care says which of Kueue's controllers looks after a kind: they ask different questions.
type care int

const (
	// byJob: the generic job reconciler. The job is held by its suspend field, and the namespace must be selected.
	byJob care = iota
	// bySet: StatefulSet and LeaderWorkerSet have reconcilers of their own, which do not ask for the namespace of a
	// labelled object. Their pods are held by scheduling gates.
	bySet
	// byPods: a Deployment is only labelled by the webhook; each of its pods has a Workload.
	byPods
	// byPod: a Pod or a pod group, which the webhook marks at creation.
	byPod
)

// shape is what a job asks for, as its integration makes pod sets of it.
type shape struct {
	podSets []PodSet
	// problem says why Kueue can't make pod sets; the job then never gets a Workload.
	problem *Reason
	// missing lists kinds not in the input without which the pod sets are unknown.
	missing []string
	// lostClaims tells that resource claims of the pods were dropped on the way.
	lostClaims bool
}

// kind is one kind of job that Kueue can manage.
type kind struct {
	*jobs.Kind
	care care
	// podSets makes the pod sets of one job (nil for pods, which are grouped first).
	podSets func(*finder, *cluster.Object) shape
	// priorityClass, where a kind has a rule of its own, names the PriorityClass; else the first pod set with one does.
	priorityClass func(*cluster.Object) string
	// suspended tells whether the job is held (only care byJob).
	suspended func(*cluster.Object) bool
	// ended tells that the job is over: no Workload is made for it any more.
	ended func(*cluster.Object) bool
	// skip is a rule of the kind that takes the job out of Kueue's hands.
	skip func(*finder, *cluster.Object) *verdict
	// waits is a rule of the kind for which no Workload is made yet.
	waits func(*finder, *cluster.Object) *Reason
	// refuse returns the webhook's objection to creating the object, or "".
	refuse func(f *finder, o *cluster.Object, managed bool) string
	// dropsClaims kinds lose the resource claims of their pods on the way to the Workload.
	dropsClaims bool
	// elastic kinds may use workload slices.
	elastic bool
	// replicas, for a kind with one Workload per replica, counts them.
	replicas func(*cluster.Object) int32
	// reclaimable counts pods that have ended, by pod set, when no Workload tells.
	reclaimable func(*finder, *cluster.Object, []PodSet) map[string]int32
}

func (k *kind) apiVersion() string {
	return k.GroupVersionKind().GroupVersion().String()
}

// kinds is the registry, in the order in which they are looked at.
var kinds = []*kind{
	jobKind, jobSetKind, mpiJobKind,
	pyTorchJobKind, tfJobKind, xgBoostJobKind, paddleJobKind, jaxJobKind,
	trainJobKind, rayJobKind, rayServiceKind, rayClusterKind, appWrapperKind, sparkKind,
	statefulSetKind, leaderWorkerSetKind, deploymentKind, podKind,
}

// kindOf finds a kind by group and kind; nil when Kueue has no integration for it.
func (f *finder) kindOf(gk schema.GroupKind) *kind {
	for _, k := range f.kinds {
		if k.GroupKind == gk {
			return k
		}
	}
	return nil
}

// kindByReference finds a kind by what an owner reference says; the version must be the one Kueue knows.
func (f *finder) kindByReference(apiVersion, name string) *kind {
	for _, k := range f.kinds {
		if k.GroupKind.Kind == name && k.apiVersion() == apiVersion {
			return k
		}
	}
	return nil
}

// Kinds lists the group and kind of every job kind Kueue has an integration for, in the order of the registry.
func Kinds() []schema.GroupKind {
	out := make([]schema.GroupKind, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, k.GroupKind)
	}
	return out
}
