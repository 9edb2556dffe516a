package workload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// roles is what all Kubeflow jobs have in common.
type roles struct {
	run    *crd.RunPolicy
	specs  crd.ReplicaSpecs
	status *crd.KubeflowStatus
	// field holds the roles in the spec, and order is that of the pod sets.
	field string
	order []string
}

// rolesOf reads a job of any Kubeflow kind; false when the object is of another type.
type rolesOf func(*cluster.Object) (roles, bool)

var (
	masterThenWorker = []string{"Master", "Worker"}
	tensorFlowOrder  = []string{"Chief", "Master", "PS", "Worker", "Evaluator"}
)

var (
	pyTorchJobKind = kubeflowKind(jobs.PyTorchJob, func(o *cluster.Object) (roles, bool) {
		j := cluster.As[*crd.PyTorchJob](o)
		if j == nil {
			return roles{}, false
		}
		return roles{&j.Spec.RunPolicy, j.Spec.PyTorchReplicaSpecs, &j.Status, "pytorchReplicaSpecs", masterThenWorker},
			true
	})
	tfJobKind = kubeflowKind(jobs.TFJob, func(o *cluster.Object) (roles, bool) {
		j := cluster.As[*crd.TFJob](o)
		if j == nil {
			return roles{}, false
		}
		return roles{&j.Spec.RunPolicy, j.Spec.TFReplicaSpecs, &j.Status, "tfReplicaSpecs", tensorFlowOrder}, true
	})
	xgBoostJobKind = kubeflowKind(jobs.XGBoostJob, func(o *cluster.Object) (roles, bool) {
		j := cluster.As[*crd.XGBoostJob](o)
		if j == nil {
			return roles{}, false
		}
		return roles{&j.Spec.RunPolicy, j.Spec.XGBReplicaSpecs, &j.Status, "xgbReplicaSpecs", masterThenWorker}, true
	})
	paddleJobKind = kubeflowKind(jobs.PaddleJob, func(o *cluster.Object) (roles, bool) {
		j := cluster.As[*crd.PaddleJob](o)
		if j == nil {
			return roles{}, false
		}
		return roles{&j.Spec.RunPolicy, j.Spec.PaddleReplicaSpecs, &j.Status, "paddleReplicaSpecs", masterThenWorker},
			true
	})
	jaxJobKind = kubeflowKind(jobs.JAXJob, func(o *cluster.Object) (roles, bool) {
		j := cluster.As[*crd.JAXJob](o)
		if j == nil {
			return roles{}, false
		}
		return roles{&j.Spec.RunPolicy, j.Spec.JAXReplicaSpecs, &j.Status, "jaxReplicaSpecs", []string{"Worker"}}, true
	})
)

func kubeflowKind(row *jobs.Kind, read rolesOf) *kind {
	return &kind{
		Kind: row,
		podSets: func(_ *finder, o *cluster.Object) shape {
			r, ok := read(o)
			if !ok {
				return unreadable(o)
			}
			return shape{podSets: r.podSets(o)}
		},
		priorityClass: read.priorityClass, suspended: read.suspended, ended: read.ended,
	}
}

// podSets makes one pod set per role that is present, in the fixed order of the kind.
func (r roles) podSets(source *cluster.Object) []PodSet {
	var out []PodSet
	for _, role := range r.order {
		spec := r.specs[role]
		if spec == nil {
			continue
		}
		out = append(out, PodSet{
			Name: podSetName(role), Count: deref(spec.Replicas, 1),
			Template: &spec.Template, Source: source, Path: "spec." + r.field + "." + role + ".template",
		})
	}
	return out
}

// priorityClass is the scheduling policy's, else that of the first role that names one.
func (read rolesOf) priorityClass(o *cluster.Object) string {
	r, ok := read(o)
	if !ok {
		return ""
	}
	if p := r.run.SchedulingPolicy; p != nil && p.PriorityClass != "" {
		return p.PriorityClass
	}
	for _, role := range r.order {
		if spec := r.specs[role]; spec != nil && spec.Template.Spec.PriorityClassName != "" {
			return spec.Template.Spec.PriorityClassName
		}
	}
	return ""
}

func (read rolesOf) suspended(o *cluster.Object) bool {
	r, ok := read(o)
	return ok && deref(r.run.Suspend, false)
}

func (read rolesOf) ended(o *cluster.Object) bool {
	r, ok := read(o)
	if !ok {
		return false
	}
	for _, c := range r.status.Conditions {
		if (c.Type == "Succeeded" || c.Type == "Failed") && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
