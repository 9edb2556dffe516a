package rules

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var admittedPiecewise = &lint.Rule{
	ID: "GQ318", Name: "admitted-piecewise", Severity: lint.Info,
	Doc: lint.Doc{
		Title: "The pods of an object are admitted one by one, not together",
		Why: "Kueue makes a Workload for every pod of a Deployment, and for every replica of a LeaderWorkerSet. Some " +
			"may run and hold GPUs while others wait for quota. That is right for services; pods that need each " +
			"other wait for ever, and block others.",
		Bad: "kind: Deployment\nmetadata: {labels: {kueue.x-k8s.io/queue-name: gpus}}\nspec: {replicas: 8}   # " +
			"eight Workloads\n",
		Good:  "kind: Job   # or JobSet, StatefulSet: one Workload, admitted as a whole\n",
		Since: "every version",
		Links: []string{linkJobs},
	},
	Check: func(p *lint.Pass) {
		for o, d := range cluster.All[*appsv1.Deployment](p.Snapshot, cluster.Deployment) {
			if d.Labels[lint.QueueLabel] != "" && d.Spec.Replicas != nil && *d.Spec.Replicas > 1 &&
				p.Config.Framework(jobs.Deployment.Framework) && asksForDevices(&d.Spec.Template.Spec) {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.replicas"),
					Message: fmt.Sprintf("its %d pods are admitted one by one: some may hold devices while the "+
						"others wait", *d.Spec.Replicas),
					Help: "where the pods need each other, use a kind that is admitted as a whole: Job, JobSet or " +
						"StatefulSet"})
			}
		}
		for o, s := range cluster.All[*crd.LeaderWorkerSet](p.Snapshot, cluster.LeaderWorkerSet) {
			if s.Labels[lint.QueueLabel] != "" && s.Spec.Replicas != nil && *s.Spec.Replicas > 1 &&
				p.Config.Framework(jobs.LeaderWorkerSet.Framework) {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.replicas"),
					Message: fmt.Sprintf("its %d replicas are admitted one by one, each with its leader and workers",
						*s.Spec.Replicas),
					Help: "that is right for replicas that serve by themselves"})
			}
		}
	},
}

// asksForDevices tells that pods claim devices or ask for extended resources.
func asksForDevices(spec *corev1.PodSpec) bool {
	if len(spec.ResourceClaims) > 0 {
		return true
	}
	for c := range containers(spec) {
		for _, list := range []corev1.ResourceList{c.of.Resources.Requests, c.of.Resources.Limits} {
			for name := range list {
				if isExtended(name) {
					return true
				}
			}
		}
	}
	return false
}
