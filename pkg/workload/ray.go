package workload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

const (
	headPodSet           = "head"
	faultToleranceKey    = "ray.io/ft-enabled"
	headTemplate         = "headGroupSpec.template"
	autoscalerContainer  = "autoscaler"
	redisCleanupCPU      = "200m"
	redisCleanupMemory   = "256Mi"
	autoscalerCPU        = "500m"
	autoscalerMemory     = "512Mi"
	autoscalingByElastic = `spec%s.enableInTreeAutoscaling: Invalid value: true: %s`
)

// rayClusterKind is RayCluster: the head, then one pod set per worker group.
var rayClusterKind = &kind{
	Kind: jobs.RayCluster, elastic: true,
	podSets: rayClusterPodSets, suspended: rayClusterSuspended, refuse: refuseRayCluster,
}

func rayClusterPodSets(f *finder, o *cluster.Object) shape {
	rc := cluster.As[*crd.RayCluster](o)
	if rc == nil {
		return unreadable(o)
	}
	return f.raySpecPodSets(&rc.Spec, o, "spec")
}

func rayClusterSuspended(o *cluster.Object) bool {
	rc := cluster.As[*crd.RayCluster](o)
	return rc != nil && deref(rc.Spec.Suspend, false)
}

// raySpecPodSets makes the pod sets of a Ray cluster. The number of workers is replicas times hosts, whatever
// minReplicas and maxReplicas say; a suspended group counts in full.
func (f *finder) raySpecPodSets(spec *crd.RayClusterSpec, o *cluster.Object, path string) shape {
	head, problem := f.rayHead(spec, o, path)
	if problem != nil {
		return shape{problem: problem}
	}
	out := []PodSet{head}
	for i := range spec.WorkerGroupSpecs {
		group := &spec.WorkerGroupSpecs[i]
		out = append(out, PodSet{
			Name: podSetName(group.GroupName), Count: rayWorkers(group),
			Template: &group.Template, Source: o, Path: fmt.Sprintf("%s.workerGroupSpecs[%d].template", path, i),
		})
	}
	return shape{podSets: out}
}

// rayWorkers counts the pods of a group. An object that a server stored always has replicas.
func rayWorkers(group *crd.WorkerGroupSpec) int32 {
	return times(deref(group.Replicas, 1), max(group.NumOfHosts, 1))
}

// rayHead is the head pod, with what KubeRay will add to it where the version counts that.
func (f *finder) rayHead(spec *crd.RayClusterSpec, o *cluster.Object, path string) (PodSet, *Reason) {
	template := &spec.HeadGroupSpec.Template
	head := PodSet{Name: headPodSet, Count: 1, Source: o, Path: path + "." + headTemplate}
	cleanup := f.cfg.Behavior.RayRedisCleanupCharged && faultTolerant(spec, o)
	autoscaler := f.cfg.Behavior.RayAutoscalerCharged && deref(spec.EnableInTreeAutoscaling, false)
	if cleanup || autoscaler {
		template = template.DeepCopy()
	}
	if cleanup {
		if len(template.Spec.Containers) == 0 {
			r := reason(NoPodSets, "Its head has no container to clean up Redis with; Kueue makes no Workload.", o,
				head.Path)
			return PodSet{}, &r
		}
		raiseRequests(&template.Spec.Containers[0], map[corev1.ResourceName]string{
			corev1.ResourceCPU: redisCleanupCPU, corev1.ResourceMemory: redisCleanupMemory,
		})
	}
	if autoscaler {
		template.Spec.Containers = append(template.Spec.Containers, autoscalerOf(spec.AutoscalerOptions))
	}
	head.Template = template
	return head, nil
}

// faultTolerant tells that the GCS survives in Redis: KubeRay then runs a cleanup Job when the cluster goes.
func faultTolerant(spec *crd.RayClusterSpec, o *cluster.Object) bool {
	options := strings.TrimSpace(string(spec.GcsFaultToleranceOptions))
	return strings.EqualFold(o.Meta.Annotations[faultToleranceKey], "true") || options != "" && options != "null"
}

func raiseRequests(c *corev1.Container, least map[corev1.ResourceName]string) {
	if c.Resources.Requests == nil {
		c.Resources.Requests = corev1.ResourceList{}
	}
	for name, value := range least {
		q := resource.MustParse(value)
		if have, ok := c.Resources.Requests[name]; !ok || have.Cmp(q) < 0 {
			c.Resources.Requests[name] = q
		}
	}
}

func autoscalerOf(options *crd.AutoscalerOptions) corev1.Container {
	c := corev1.Container{Name: autoscalerContainer}
	if options != nil && options.Resources != nil {
		c.Resources = *options.Resources.DeepCopy()
		return c
	}
	c.Resources.Requests = quantities(autoscalerCPU, autoscalerMemory)
	c.Resources.Limits = quantities(autoscalerCPU, autoscalerMemory)
	return c
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory)}
}

// followLiveCluster takes the counts of an elastic RayJob or RayService from the RayCluster it runs in.
func (f *finder) followLiveCluster(k *kind, o *cluster.Object, spec *crd.RayClusterSpec, name string,
	podSets []PodSet) {
	if name == "" || !f.elastic(k, o) || !deref(spec.EnableInTreeAutoscaling, false) {
		return
	}
	live, _, ok := cluster.Lookup[*crd.RayCluster](f.snap, cluster.RayCluster, o.Ref.Namespace, name)
	if !ok {
		return
	}
	for i := range live.Spec.WorkerGroupSpecs {
		group := &live.Spec.WorkerGroupSpecs[i]
		for j := range podSets {
			if podSets[j].Name == podSetName(group.GroupName) && group.Replicas != nil {
				podSets[j].Count = rayWorkers(group)
			}
		}
	}
}

func refuseRayCluster(f *finder, o *cluster.Object, managed bool) string {
	rc := cluster.As[*crd.RayCluster](o)
	if rc == nil || !managed {
		return ""
	}
	if deref(rc.Spec.EnableInTreeAutoscaling, false) && !f.elastic(rayClusterTraits, o) {
		return fmt.Sprintf(autoscalingByElastic, "", fmt.Sprintf(
			"a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the %s feature gate and "+
				"set the %q: %q annotation",
			release.ElasticJobsViaWorkloadSlices, elasticAnnotation, "true"))
	}
	return f.refuseRayGroups(&rc.Spec, "spec")
}

// rayClusterTraits and its kin carry only what elastic asks; naming the kinds themselves would be circular.
var rayClusterTraits = &kind{Kind: jobs.RayCluster, elastic: true}

func (f *finder) refuseRayGroups(spec *crd.RayClusterSpec, path string) string {
	if limit := f.cfg.Behavior.MaxPodSets; limit > 0 && len(spec.WorkerGroupSpecs)+1 > limit {
		return fmt.Sprintf("%s.workerGroupSpecs: Too many: %d: must have at most %d items", path,
			len(spec.WorkerGroupSpecs)+1, limit)
	}
	for i := range spec.WorkerGroupSpecs {
		if spec.WorkerGroupSpecs[i].GroupName == headPodSet {
			return fmt.Sprintf("%s.workerGroupSpecs[%d].groupName: Forbidden: %q is reserved for the head group", path,
				i, headPodSet)
		}
	}
	return ""
}
