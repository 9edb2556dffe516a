package workload

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

var mpiRoles rolesOf = func(o *cluster.Object) (roles, bool) {
	j := cluster.As[*crd.MPIJob](o)
	if j == nil {
		return roles{}, false
	}
	return roles{&j.Spec.RunPolicy, j.Spec.MPIReplicaSpecs, &j.Status, "mpiReplicaSpecs",
		[]string{"Launcher", "Worker"}}, true
}

// mpiJobKind is MPIJob (v2beta1): launcher and worker. runLauncherAsWorker changes nothing.
var mpiJobKind = &kind{
	Kind:    jobs.MPIJob,
	podSets: mpiPodSets, priorityClass: mpiRoles.priorityClass, suspended: mpiRoles.suspended, ended: mpiRoles.ended,
}

func mpiPodSets(f *finder, o *cluster.Object) shape {
	r, ok := mpiRoles(o)
	if !ok {
		return unreadable(o)
	}
	if !f.cfg.Behavior.MPINilReplicaSkipped {
		for _, role := range r.order {
			if spec, present := r.specs[role]; present && spec == nil {
				return broken(reason(NoPodSets, "Its role "+role+" is null, on which this version of Kueue fails.", o,
					"spec.mpiReplicaSpecs."+role))
			}
		}
	}
	return shape{podSets: r.podSets(o)}
}
