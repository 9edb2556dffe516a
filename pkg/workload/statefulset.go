package workload

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const parentAnnotation = "kueue.x-k8s.io/pod-suspending-parent"

// statefulSetKind is StatefulSet: one Workload for all replicas.
var statefulSetKind = &kind{
	Kind: jobs.StatefulSet, care: bySet,
	podSets: statefulSetPodSets, skip: skipStatefulSet, waits: statefulSetWaits,
}

func statefulSetPodSets(_ *finder, o *cluster.Object) shape {
	sts := cluster.As[*appsv1.StatefulSet](o)
	if sts == nil {
		return unreadable(o)
	}
	return shape{podSets: []PodSet{{
		Name: mainPodSet, Count: deref(sts.Spec.Replicas, 1),
		Template: &sts.Spec.Template, Source: o, Path: templatePath,
	}}}
}

// skipStatefulSet: the StatefulSets of a LeaderWorkerSet belong to that one.
func skipStatefulSet(_ *finder, o *cluster.Object) *verdict {
	sts := cluster.As[*appsv1.StatefulSet](o)
	if sts == nil {
		return nil
	}
	parent := sts.Spec.Template.Annotations[parentAnnotation]
	if parent == "" || parent == jobs.StatefulSet.Framework {
		return nil
	}
	v := settled(Elsewhere, reason(ManagedByOther, "Its pods are managed by framework "+parent+".", o,
		templatePath+`.metadata.annotations["`+parentAnnotation+`"]`))
	if name := o.Meta.Labels[groupSetLabel]; name != "" && parent == jobs.LeaderWorkerSet.Framework {
		v.via = groupSetRef(o.Ref.Namespace, name)
	}
	return &v
}

func statefulSetWaits(_ *finder, o *cluster.Object) *Reason {
	sts := cluster.As[*appsv1.StatefulSet](o)
	if sts == nil || deref(sts.Spec.Replicas, 1) != 0 {
		return nil
	}
	r := reason(ScaledToZero, "It has no replicas; Kueue makes no Workload until it has some.", o, "spec.replicas")
	return &r
}
