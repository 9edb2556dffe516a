package workload

import (
	"encoding/json"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

const (
	stepLabel    = "trainer.kubeflow.org/trainjob-ancestor-step"
	stepTrainer  = "trainer"
	nodeName     = "node"
	resourcesFor = "spec.trainer"
	runtimeJobs  = "spec.template.spec.replicatedJobs"
)

// stepsOfOneJob are the steps whose replicated job always has one Job.
var stepsOfOneJob = []string{"dataset-initializer", "model-initializer", stepTrainer}

// trainJobKind is TrainJob: Kueue renders the runtime into a JobSet and takes the pod sets of that.
var trainJobKind = &kind{
	Kind:    jobs.TrainJob,
	podSets: trainJobPodSets, suspended: trainJobSuspended, ended: trainJobEnded, refuse: refuseTrainJob,
	reclaimable: reclaimableTrainJob,
}

func trainJobPodSets(f *finder, o *cluster.Object) shape {
	job := cluster.As[*crd.TrainJob](o)
	if job == nil {
		return unreadable(o)
	}
	jobs, podSets, s := f.render(job, o)
	if jobs == nil {
		return f.renderedByTrainer(o, s)
	}
	return shape{podSets: podSets}
}

// runtimeOf finds the runtime of a TrainJob.
func (f *finder) runtimeOf(job *crd.TrainJob, o *cluster.Object) (*crd.TrainingRuntimeSpec, *cluster.Object,
	schema.GroupKind) {
	gk := schema.GroupKind{
		Group: deref(job.Spec.RuntimeRef.APIGroup, cluster.TrainJob.Group),
		Kind:  deref(job.Spec.RuntimeRef.Kind, cluster.ClusterTrainingRuntime.Kind),
	}
	switch gk {
	case cluster.TrainingRuntime:
		if r, record, ok := cluster.Lookup[*crd.TrainingRuntime](f.snap, gk, o.Ref.Namespace,
			job.Spec.RuntimeRef.Name); ok {
			return &r.Spec, record, gk
		}
	case cluster.ClusterTrainingRuntime:
		if r, record, ok := cluster.Lookup[*crd.ClusterTrainingRuntime](f.snap, gk, "", job.Spec.RuntimeRef.Name); ok {
			return &r.Spec, record, gk
		}
	}
	return nil, nil, gk
}

// render turns the runtime and the TrainJob into replicated jobs, as Kubeflow Trainer does. jobs is nil when that
// can't be done, and the shape then says why.
func (f *finder) render(job *crd.TrainJob, o *cluster.Object) (jobs []crd.ReplicatedJob, podSets []PodSet, s shape) {
	spec, record, gk := f.runtimeOf(job, o)
	if spec == nil {
		return nil, nil, f.noRuntime(job, o, gk)
	}
	jobs, err := patchedJobs(spec.Template.Spec.ReplicatedJobs, job.Spec.RuntimePatches)
	if err != nil {
		return nil, nil,
			broken(reason(NoPodSets, "Its runtimePatches can't be applied: "+err.Error()+".", o, "spec.runtimePatches"))
	}
	if jobs == nil {
		jobs = []crd.ReplicatedJob{}
	}
	counts := nodeCounts(jobs, spec.MLPolicy, job.Spec.Trainer)
	own := make([]bool, len(jobs))
	for i := range jobs {
		rj := &jobs[i]
		rj.Template.Spec.Parallelism, rj.Template.Spec.Completions = &counts[i], &counts[i]
		if slices.Contains(stepsOfOneJob, rj.Template.Labels[stepLabel]) {
			one := int32(1)
			rj.Replicas = &one
		}
		own[i] = setNodeResources(rj, spec.MLPolicy, job.Spec.Trainer)
	}
	podSets = replicatedPodSets(jobs, record, runtimeJobs)
	for i := range podSets {
		if own[i] {
			podSets[i].Source, podSets[i].Path = o, resourcesFor
		}
	}
	return jobs, podSets, shape{}
}

func (f *finder) noRuntime(job *crd.TrainJob, o *cluster.Object, gk schema.GroupKind) shape {
	r := reason(RuntimeNotFound, fmt.Sprintf("%s %s is not in the input.", gk.Kind, job.Spec.RuntimeRef.Name), o,
		"spec.runtimeRef")
	known := gk == cluster.TrainingRuntime || gk == cluster.ClusterTrainingRuntime
	if known && !f.snap.Coverage.HasIn(gk, o.Ref.Namespace) {
		return shape{problem: &r, missing: []string{gk.Kind}}
	}
	r.Text = fmt.Sprintf("%s %s does not exist.", gk.Kind, job.Spec.RuntimeRef.Name)
	return shape{problem: &r}
}

// renderedByTrainer falls back on the JobSet that Kubeflow Trainer made of the TrainJob: it holds the same pod sets.
func (f *finder) renderedByTrainer(o *cluster.Object, s shape) shape {
	js, record, ok := cluster.Lookup[*crd.JobSet](f.snap, cluster.JobSet, o.Ref.Namespace, o.Ref.Name)
	if !ok || len(s.missing) == 0 {
		return s
	}
	ref := metav1.GetControllerOfNoCopy(js)
	if ref == nil || ref.Kind != cluster.TrainJob.Kind || ref.Name != o.Ref.Name {
		return s
	}
	return shape{podSets: replicatedPodSets(js.Spec.ReplicatedJobs, record, "spec.replicatedJobs")}
}

// patchedJobs copies the runtime's replicated jobs and merges the job's patches into them, by name.
func patchedJobs(runtimeJobs []crd.ReplicatedJob, patches []crd.RuntimePatch) ([]crd.ReplicatedJob, error) {
	var jobs []crd.ReplicatedJob
	for i := range runtimeJobs {
		rj := runtimeJobs[i]
		rj.Template = *rj.Template.DeepCopy()
		jobs = append(jobs, rj)
	}
	for _, p := range patches {
		if p.TrainingRuntimeSpec == nil || p.TrainingRuntimeSpec.Template == nil ||
			p.TrainingRuntimeSpec.Template.Spec == nil {
			continue
		}
		for _, patch := range p.TrainingRuntimeSpec.Template.Spec.ReplicatedJobs {
			for i := range jobs {
				if jobs[i].Name != patch.Name || len(patch.Template) == 0 || string(patch.Template) == "null" {
					continue
				}
				merged, err := mergeTemplate(jobs[i].Template, patch.Template)
				if err != nil {
					return nil, err
				}
				jobs[i].Template = merged
			}
		}
	}
	return jobs, nil
}

func mergeTemplate(template batchv1.JobTemplateSpec, patch []byte) (batchv1.JobTemplateSpec, error) {
	original, err := json.Marshal(template)
	if err != nil {
		return template, err
	}
	merged, err := strategicpatch.StrategicMergePatch(original, patch, batchv1.JobTemplateSpec{})
	if err != nil {
		return template, err
	}
	var out batchv1.JobTemplateSpec
	return out, json.Unmarshal(merged, &out)
}

// nodeCounts is how many pods each replicated job has: its parallelism, but for the trainer the number of nodes,
// of the runtime or, before it, of the TrainJob.
func nodeCounts(jobs []crd.ReplicatedJob, policy *crd.MLPolicy, trainer *crd.Trainer) []int32 {
	counts := make([]int32, len(jobs))
	for i := range jobs {
		n := deref(jobs[i].Template.Spec.Parallelism, 1)
		if jobs[i].Template.Labels[stepLabel] == stepTrainer && policy != nil {
			n = deref(policy.NumNodes, 1)
		}
		counts[i] = max(n, 1)
	}
	if trainer == nil || trainer.NumNodes == nil {
		return counts
	}
	if policy != nil && policy.MPI != nil {
		// MPI looks for the replicated job by name, and the launcher may be one of the nodes.
		if i := slices.IndexFunc(jobs, func(rj crd.ReplicatedJob) bool { return rj.Name == nodeName }); i >= 0 {
			counts[i] = *trainer.NumNodes
			if deref(policy.MPI.RunLauncherAsNode, false) {
				counts[i] = max(*trainer.NumNodes-1, 1)
			}
		}
		return counts
	}
	if i := slices.IndexFunc(jobs,
		func(rj crd.ReplicatedJob) bool { return rj.Template.Labels[stepLabel] == stepTrainer }); i >= 0 {
		counts[i] = *trainer.NumNodes
	}
	return counts
}

// setNodeResources puts the TrainJob's resourcesPerNode into container "node" of the trainer; what the runtime says,
// resource claims too, is replaced.
func setNodeResources(rj *crd.ReplicatedJob, policy *crd.MLPolicy, trainer *crd.Trainer) bool {
	if trainer == nil || trainer.ResourcesPerNode == nil ||
		trainer.ResourcesPerNode.Limits == nil && trainer.ResourcesPerNode.Requests == nil {
		return false
	}
	launcherIsNode := policy != nil && policy.MPI != nil && deref(policy.MPI.RunLauncherAsNode, false)
	if rj.Template.Labels[stepLabel] != stepTrainer && !(launcherIsNode && rj.Name == nodeName) {
		return false
	}
	set := false
	containers := rj.Template.Spec.Template.Spec.Containers
	for i := range containers {
		if containers[i].Name == nodeName {
			containers[i].Resources = corev1.ResourceRequirements{
				Limits: trainer.ResourcesPerNode.Limits, Requests: trainer.ResourcesPerNode.Requests,
			}
			set = true
		}
	}
	return set
}

func trainJobSuspended(o *cluster.Object) bool {
	job := cluster.As[*crd.TrainJob](o)
	return job != nil && deref(job.Spec.Suspend, false)
}

func trainJobEnded(o *cluster.Object) bool {
	job := cluster.As[*crd.TrainJob](o)
	return job != nil && conditionTrue(job.Status.Conditions, "Complete", "Failed")
}

// refuseTrainJob: with topology-aware scheduling on, the webhook renders the runtime and fails without it.
func refuseTrainJob(f *finder, o *cluster.Object, _ bool) string {
	job := cluster.As[*crd.TrainJob](o)
	if job == nil || !f.cfg.Enabled(release.TopologyAwareScheduling) {
		return ""
	}
	if spec, _, gk := f.runtimeOf(job, o); spec == nil && f.snap.Coverage.HasIn(gk, o.Ref.Namespace) {
		return fmt.Sprintf("runtime '%s' not found", job.Spec.RuntimeRef.Name)
	}
	return ""
}

func reclaimableTrainJob(f *finder, o *cluster.Object, _ []PodSet) map[string]int32 {
	job := cluster.As[*crd.TrainJob](o)
	if job == nil || !f.cfg.Enabled(release.ReclaimablePods) || len(job.Status.JobsStatus) == 0 {
		return nil
	}
	jobs, _, _ := f.render(job, o)
	out := map[string]int32{}
	for _, status := range job.Status.JobsStatus {
		addSucceeded(out, jobs, status.Name, deref(status.Succeeded, 0))
	}
	return out
}
