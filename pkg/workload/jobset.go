package workload

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// jobSetKind is JobSet: one pod set per replicated job.
var jobSetKind = &kind{
	Kind:    jobs.JobSet,
	podSets: jobSetPodSets, suspended: jobSetSuspended, ended: jobSetEnded, reclaimable: reclaimableJobSet,
}

func jobSetPodSets(_ *finder, o *cluster.Object) shape {
	js := cluster.As[*crd.JobSet](o)
	if js == nil {
		return unreadable(o)
	}
	return shape{podSets: replicatedPodSets(js.Spec.ReplicatedJobs, o, "spec.replicatedJobs")}
}

func replicatedPodSets(jobs []crd.ReplicatedJob, source *cluster.Object, path string) []PodSet {
	var out []PodSet
	for i := range jobs {
		job := &jobs[i]
		out = append(out, PodSet{
			Name:     podSetName(job.Name),
			Count:    times(deref(job.Replicas, 1), podsPerJob(job)),
			Template: &job.Template.Spec.Template,
			Source:   source,
			Path:     fmt.Sprintf("%s[%d].template.spec.template", path, i),
		})
	}
	return out
}

// podsPerJob is how many pods one Job of a replicated job runs at a time.
func podsPerJob(job *crd.ReplicatedJob) int32 {
	return podsAtATime(job.Template.Spec.Parallelism, job.Template.Spec.Completions)
}

func jobSetSuspended(o *cluster.Object) bool {
	js := cluster.As[*crd.JobSet](o)
	return js != nil && deref(js.Spec.Suspend, false)
}

func jobSetEnded(o *cluster.Object) bool {
	js := cluster.As[*crd.JobSet](o)
	return js != nil && conditionTrue(js.Status.Conditions, "Completed", "Failed")
}
