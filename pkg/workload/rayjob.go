package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const (
	submitterPodSet    = "submitter"
	submitterContainer = "ray-job-submitter"
	modeJob            = "K8sJobMode"
	modeSidecar        = "SidecarMode"
	rayJobSpecPath     = "spec.rayClusterSpec"
	rayServiceSpecPath = "spec.rayClusterConfig"
)

// rayJobKind is RayJob: the pod sets of its cluster, then the submitter.
var rayJobKind = &kind{
	Kind: jobs.RayJob, elastic: true,
	podSets: rayJobPodSets, suspended: rayJobSuspended, ended: rayJobEnded,
	skip: skipRayJob, waits: rayJobWaits, refuse: refuseRayJob,
}

var (
	rayJobTraits     = &kind{Kind: jobs.RayJob, elastic: true}
	rayServiceTraits = &kind{Kind: jobs.RayService, elastic: true}
)

func rayJobPodSets(f *finder, o *cluster.Object) shape {
	job := cluster.As[*crd.RayJob](o)
	switch {
	case job == nil:
		return unreadable(o)
	case job.Spec.RayClusterSpec == nil:
		return broken(reason(NoPodSets, "It has no rayClusterSpec.", o, rayJobSpecPath))
	}
	s := f.raySpecPodSets(job.Spec.RayClusterSpec, o, rayJobSpecPath)
	if s.problem != nil {
		return s
	}
	switch job.Spec.SubmissionMode {
	case modeJob, "":
		s.podSets = append(s.podSets, submitterOf(job, o))
	case modeSidecar:
		if f.cfg.Behavior.RaySidecarSubmitterCharged {
			s.podSets[0].Template = s.podSets[0].Template.DeepCopy()
			s.podSets[0].Template.Spec.Containers = append(s.podSets[0].Template.Spec.Containers, defaultSubmitter())
		}
	}
	f.followLiveCluster(rayJobTraits, o, job.Spec.RayClusterSpec, job.Status.RayClusterName, s.podSets)
	return s
}

// submitterOf is the pod of the submitter Job: the user's template as it is, else KubeRay's default.
func submitterOf(job *crd.RayJob, o *cluster.Object) PodSet {
	ps := PodSet{Name: submitterPodSet, Count: 1, Source: o, Path: "spec.submitterPodTemplate",
		Template: job.Spec.SubmitterPodTemplate}
	if ps.Template == nil {
		ps.Template = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{defaultSubmitter()},
		}}
	}
	return ps
}

func defaultSubmitter() corev1.Container {
	return corev1.Container{Name: submitterContainer, Resources: corev1.ResourceRequirements{
		Requests: quantities("500m", "200Mi"), Limits: quantities("1", "1Gi"),
	}}
}

func rayJobSuspended(o *cluster.Object) bool {
	job := cluster.As[*crd.RayJob](o)
	return job != nil && job.Spec.Suspend
}

func rayJobEnded(o *cluster.Object) bool {
	job := cluster.As[*crd.RayJob](o)
	return job != nil && (job.Status.JobDeploymentStatus == "Failed" || job.Status.JobDeploymentStatus == "Complete")
}

// skipRayJob: a RayJob that runs in an existing cluster is not Kueue's business, but the webhook suspends it if
// labelled.
func skipRayJob(f *finder, o *cluster.Object) *verdict {
	job := cluster.As[*crd.RayJob](o)
	if job == nil || len(job.Spec.ClusterSelector) == 0 {
		return nil
	}
	const path = "spec.clusterSelector"
	if queue, _, _ := f.queueOf(o); queue != "" &&
		(fresh(o) && f.webhooksSee(o.Ref.Namespace) == yes || job.Spec.Suspend) {
		v := settled(Stuck, reason(ExistingRayCluster, "It runs in an existing cluster (clusterSelector), which "+
			"Kueue leaves alone; "+
			"yet its queue label makes the webhook suspend it, and nothing resumes it.", o, path))
		return &v
	}
	v := settled(Unmanaged, reason(ExistingRayCluster, "It runs in an existing cluster (clusterSelector); Kueue "+
		"leaves it alone.", o, path))
	return &v
}

// rayJobWaits: KubeRay has refused the RayJob, and Kueue holds it.
func rayJobWaits(f *finder, o *cluster.Object) *Reason {
	job := cluster.As[*crd.RayJob](o)
	if job == nil || !f.cfg.Behavior.RayJobOnHold || job.Status.JobDeploymentStatus != "ValidationFailed" {
		return nil
	}
	r := reason(OnHold, "KubeRay finds it invalid (ValidationFailed); Kueue makes no Workload until that changes.", o,
		"status.jobDeploymentStatus")
	return &r
}

func refuseRayJob(f *finder, o *cluster.Object, managed bool) string {
	job := cluster.As[*crd.RayJob](o)
	if job == nil || !managed {
		return ""
	}
	spec := job.Spec.RayClusterSpec
	switch {
	case len(job.Spec.ClusterSelector) > 0 && spec != nil:
		return "spec.clusterSelector: Invalid value: a kueue managed job should not use an existing cluster"
	case len(job.Spec.ClusterSelector) > 0:
		return ""
	case spec == nil:
		return "spec.rayClusterSpec: Required value: rayClusterSpec is required for Kueue-managed jobs that don't " +
			"use clusterSelector"
	case !job.Spec.ShutdownAfterJobFinishes:
		return "spec.shutdownAfterJobFinishes: Invalid value: false: a kueue managed job should delete the cluster " +
			"after finishing"
	}
	return f.refuseRaySpec(rayJobTraits, o, spec, rayJobSpecPath)
}

func (f *finder) refuseRaySpec(k *kind, o *cluster.Object, spec *crd.RayClusterSpec, path string) string {
	if deref(spec.EnableInTreeAutoscaling, false) && !f.elastic(k, o) {
		return fmt.Sprintf("%s.enableInTreeAutoscaling: Invalid value: true: a kueue managed job should only use "+
			"autoscaling when workload slicing is enabled", path)
	}
	return f.refuseRayGroups(spec, path)
}

// rayServiceKind is RayService: the pod sets of its cluster. It never ends.
var rayServiceKind = &kind{
	Kind: jobs.RayService, elastic: true,
	podSets: rayServicePodSets, suspended: rayServiceSuspended, refuse: refuseRayService,
}

func rayServicePodSets(f *finder, o *cluster.Object) shape {
	service := cluster.As[*crd.RayService](o)
	if service == nil {
		return unreadable(o)
	}
	s := f.raySpecPodSets(&service.Spec.RayClusterSpec, o, rayServiceSpecPath)
	f.followLiveCluster(rayServiceTraits, o, &service.Spec.RayClusterSpec,
		service.Status.ActiveServiceStatus.RayClusterName, s.podSets)
	return s
}

func rayServiceSuspended(o *cluster.Object) bool {
	service := cluster.As[*crd.RayService](o)
	return service != nil && deref(service.Spec.RayClusterSpec.Suspend, false)
}

func refuseRayService(f *finder, o *cluster.Object, managed bool) string {
	service := cluster.As[*crd.RayService](o)
	if service == nil || !managed {
		return ""
	}
	return f.refuseRaySpec(rayServiceTraits, o, &service.Spec.RayClusterSpec, rayServiceSpecPath)
}
