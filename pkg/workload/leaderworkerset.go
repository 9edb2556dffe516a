package workload

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const (
	groupSetLabel    = "leaderworkerset.sigs.k8s.io/name"
	leaderPodSet     = "leader"
	workerPodSet     = "worker"
	mostGroups       = 1_000_000
	mostListed       = 10_000
	groupSetTemplate = "spec.leaderWorkerTemplate"
)

// leaderWorkerSetKind is LeaderWorkerSet: one Workload per replica (group).
var leaderWorkerSetKind = &kind{
	Kind: jobs.LeaderWorkerSet, care: bySet,
	podSets: groupSetPodSets, replicas: groupSetReplicas, refuse: refuseGroupSet,
}

func groupSetRef(namespace, name string) cluster.Ref {
	return cluster.Ref{APIVersion: "leaderworkerset.x-k8s.io/v1", Kind: cluster.LeaderWorkerSet.Kind,
		Namespace: namespace, Name: name}
}

// groupSetPodSets are those of one group: the leader and the others where there is a leader template, else all alike.
func groupSetPodSets(_ *finder, o *cluster.Object) shape {
	lws := cluster.As[*crd.LeaderWorkerSet](o)
	if lws == nil {
		return unreadable(o)
	}
	t := &lws.Spec.LeaderWorkerTemplate
	rest := PodSet{
		Name: mainPodSet, Count: deref(t.Size, 1), Template: &t.WorkerTemplate, Source: o, Path: groupSetTemplate +
			".workerTemplate",
	}
	if t.LeaderTemplate == nil {
		return shape{podSets: []PodSet{rest}}
	}
	rest.Name, rest.Count = workerPodSet, rest.Count-1
	return shape{podSets: []PodSet{
		{Name: leaderPodSet, Count: 1, Template: t.LeaderTemplate, Source: o, Path: groupSetTemplate +
			".leaderTemplate"}, rest,
	}}
}

// groupSetReplicas counts the groups. While a rolling update with surge runs there may be more than asked for.
func groupSetReplicas(o *cluster.Object) int32 {
	lws := cluster.As[*crd.LeaderWorkerSet](o)
	if lws == nil {
		return 0
	}
	n := deref(lws.Spec.Replicas, 1)
	update := lws.Spec.RolloutStrategy.RollingUpdateConfiguration
	if update != nil && update.MaxSurge.IntValue() > 0 && lws.Status.UpdatedReplicas < n {
		n = max(n, lws.Status.Replicas)
	}
	return n
}

func refuseGroupSet(_ *finder, o *cluster.Object, _ bool) string {
	lws := cluster.As[*crd.LeaderWorkerSet](o)
	if lws == nil {
		return ""
	}
	n := deref(lws.Spec.Replicas, 1)
	switch {
	case n < 0:
		return fmt.Sprintf("spec.replicas: Invalid value: %d: must be >= 0", n)
	case n > mostGroups:
		return fmt.Sprintf("spec.replicas: Invalid value: %d: must be <= %d", n, mostGroups)
	}
	return ""
}

// fromReplicas lists the replicas that have no Workload object, each as a workload of its own.
func (f *finder) fromReplicas(k *kind, o *cluster.Object) {
	if f.hasWorkload(o, -1) {
		return
	}
	model := newEntry(o)
	f.settle(k, o, model)
	n := k.replicas(o)
	if model.State != Managed && model.State != Undetermined || n <= 0 {
		if len(f.owned[o]) > 0 {
			return
		}
		if n <= 0 && model.State == Managed {
			model.State = Incomplete
			model.Reasons = append(model.Reasons, reason(ScaledToZero, "It has no replicas; Kueue makes no Workload "+
				"until it has some.", o, "spec.replicas"))
		}
		f.add(model)
		return
	}
	for i := range min(n, mostListed) {
		if f.hasWorkload(o, int(i)) {
			continue
		}
		w := *model
		w.Index = int(i)
		w.Name = f.replicaName(k, o, i)
		if n > mostListed && i == mostListed-1 {
			w.Reasons = append(w.Reasons,
				reason(ListCut, fmt.Sprintf("Of its %d replicas only the first %d are listed.", n, mostListed), o,
					"spec.replicas"))
		}
		f.add(&w)
	}
}

// replicaName is the name of the Workload of one replica; empty when the UID is not known.
func (f *finder) replicaName(k *kind, o *cluster.Object, index int32) string {
	if o.Meta.UID == "" {
		return ""
	}
	return Name(f.cfg, k.GroupKind, fmt.Sprintf("%s-%d", o.Ref.Name, index), uidForName(k, o), "")
}
