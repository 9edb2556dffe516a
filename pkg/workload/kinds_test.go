package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const everyFramework = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks: [batch/job, jobset.x-k8s.io/jobset, pod, deployment, statefulset, leaderworkerset.x-k8s.io/leaderworkerset, ray.io/raycluster,
    ray.io/rayjob, ray.io/rayservice, kubeflow.org/mpijob, kubeflow.org/pytorchjob, kubeflow.org/tfjob, kubeflow.org/xgboostjob,
    kubeflow.org/paddlejob, kubeflow.org/jaxjob, trainer.kubeflow.org/trainjob, workload.codeflare.dev/appwrapper, sparkoperator.k8s.io/sparkapplication]
featureGates: {SparkApplicationIntegration: true}
`

// gpu is a pod spec that asks for n GPUs; more YAML in braces may follow.
func gpu(n int, more ...string) string {
	return fmt.Sprintf("{containers: [{name: main, resources: {requests: {nvidia.com/gpu: %d}}}]%s}", n, strings.Join(append([]string{""}, more...), ", "))
}

func template(n int, more ...string) string { return "{spec: " + gpu(n, more...) + "}" }

// object writes one labelled object in one line per part.
func object(apiVersion, kind, name, body string) string {
	return fmt.Sprintf("\n---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}\n%s", apiVersion, kind, name, body)
}

// asks tells pod sets with the GPUs each asks for per pod, and where the template stands.
func asks(w *Workload) []string {
	var out []string
	for _, ps := range w.PodSets {
		gpus := int64(0)
		for _, c := range ps.Template.Spec.Containers {
			q := c.Resources.Requests["nvidia.com/gpu"]
			gpus += q.Value()
		}
		out = append(out, fmt.Sprintf("%s %d×%d %s", ps.Name, ps.Count, gpus, ps.Path))
	}
	return out
}

func TestPodSetsOfEachKind(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		want       []string // one line per workload and pod set
	}{
		{"a Job runs at most as many pods as completions are left to do",
			object("batch/v1", "Job", "j", "spec: {parallelism: 4, completions: 2, template: "+template(2)+"}"),
			[]string{"Job/j: main 2×2 spec.template"}},
		{"a Job without numbers is one pod",
			object("batch/v1", "Job", "j", "spec: {template: "+template(1)+"}"),
			[]string{"Job/j: main 1×1 spec.template"}},
		{"JobSet multiplies replicas by what runs at a time, names in lower case",
			object("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "spec: {replicatedJobs: [{name: Lead, template: {spec: {template: "+template(0)+
				"}}}, {name: work, replicas: 3, template: {spec: {parallelism: 2, completions: 8, template: "+template(1)+"}}}]}"),
			[]string{"JobSet/s: lead 1×0 spec.replicatedJobs[0].template.spec.template", "JobSet/s: work 6×1 spec.replicatedJobs[1].template.spec.template"}},
		{"LeaderWorkerSet makes one workload per group; the leader counts within the size",
			object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "l", "spec: {replicas: 2, leaderWorkerTemplate: {size: 5, leaderTemplate: "+
				template(0)+", workerTemplate: "+template(8)+"}}"),
			[]string{
				"LeaderWorkerSet/l[0]: leader 1×0 spec.leaderWorkerTemplate.leaderTemplate", "LeaderWorkerSet/l[0]: worker 4×8 spec.leaderWorkerTemplate.workerTemplate",
				"LeaderWorkerSet/l[1]: leader 1×0 spec.leaderWorkerTemplate.leaderTemplate", "LeaderWorkerSet/l[1]: worker 4×8 spec.leaderWorkerTemplate.workerTemplate",
			}},
		{"a LeaderWorkerSet of size one with a leader has a worker pod set of nobody",
			object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "l", "spec: {leaderWorkerTemplate: {leaderTemplate: "+template(1)+", workerTemplate: "+template(8)+"}}"),
			[]string{"LeaderWorkerSet/l[0]: leader 1×1 spec.leaderWorkerTemplate.leaderTemplate", "LeaderWorkerSet/l[0]: worker 0×8 spec.leaderWorkerTemplate.workerTemplate"}},
		{"a StatefulSet is one workload of all replicas",
			object("apps/v1", "StatefulSet", "s", "spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: "+template(1)+"}"),
			[]string{"StatefulSet/s: main 3×1 spec.template"}},
		{"a Deployment is one workload per pod it is to have",
			object("apps/v1", "Deployment", "d", "spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: "+template(1)+"}"),
			[]string{"Deployment/d[0]: main 1×1 spec.template", "Deployment/d[1]: main 1×1 spec.template"}},
		{"a Pod is its own template",
			object("v1", "Pod", "p", "spec: "+gpu(2)),
			[]string{"Pod/p: main 1×2 "}},
		{"MPIJob: launcher before worker, whatever the manifest's order; GPUs of the launcher count",
			object("kubeflow.org/v2beta1", "MPIJob", "m", "spec: {mpiReplicaSpecs: {Worker: {replicas: 4, template: "+template(1)+"}, Launcher: {template: "+template(2)+"}}}"),
			[]string{"MPIJob/m: launcher 1×2 spec.mpiReplicaSpecs.Launcher.template", "MPIJob/m: worker 4×1 spec.mpiReplicaSpecs.Worker.template"}},
		{"an MPIJob role that is null is passed over",
			object("kubeflow.org/v2beta1", "MPIJob", "m", "spec: {mpiReplicaSpecs: {Worker: {template: "+template(1)+"}, Launcher: null}}"),
			[]string{"MPIJob/m: worker 1×1 spec.mpiReplicaSpecs.Worker.template"}},
		{"TFJob has its own order of roles",
			object("kubeflow.org/v1", "TFJob", "t", "spec: {tfReplicaSpecs: {Worker: {replicas: 2, template: "+template(1)+"}, Evaluator: {template: "+template(0)+
				"}, PS: {template: "+template(0)+"}, Chief: {template: "+template(1)+"}}}"),
			[]string{"TFJob/t: chief 1×1 spec.tfReplicaSpecs.Chief.template", "TFJob/t: ps 1×0 spec.tfReplicaSpecs.PS.template",
				"TFJob/t: worker 2×1 spec.tfReplicaSpecs.Worker.template", "TFJob/t: evaluator 1×0 spec.tfReplicaSpecs.Evaluator.template"}},
		{"PyTorchJob: elasticPolicy changes nothing",
			object("kubeflow.org/v1", "PyTorchJob", "t", "spec: {elasticPolicy: {minReplicas: 1}, pytorchReplicaSpecs: {Worker: {replicas: 3, template: "+template(1)+"}}}"),
			[]string{"PyTorchJob/t: worker 3×1 spec.pytorchReplicaSpecs.Worker.template"}},
		{"XGBoostJob, PaddleJob and JAXJob",
			object("kubeflow.org/v1", "XGBoostJob", "x", "spec: {xgbReplicaSpecs: {Worker: {template: "+template(1)+"}, Master: {template: "+template(0)+"}}}") +
				object("kubeflow.org/v1", "PaddleJob", "p", "spec: {paddleReplicaSpecs: {Worker: {template: "+template(1)+"}}}") +
				object("kubeflow.org/v1", "JAXJob", "j", "spec: {jaxReplicaSpecs: {Worker: {replicas: 2, template: "+template(1)+"}, Master: {template: "+template(9)+"}}}"),
			[]string{"JAXJob/j: worker 2×1 spec.jaxReplicaSpecs.Worker.template", "PaddleJob/p: worker 1×1 spec.paddleReplicaSpecs.Worker.template",
				"XGBoostJob/x: master 1×0 spec.xgbReplicaSpecs.Master.template", "XGBoostJob/x: worker 1×1 spec.xgbReplicaSpecs.Worker.template"}},
		{"RayCluster counts replicas times hosts, unset replicas as none, whatever the bounds",
			object("ray.io/v1", "RayCluster", "r", "spec: {headGroupSpec: {template: "+template(0)+"}, workerGroupSpecs: [{groupName: A, replicas: 2, numOfHosts: 4, maxReplicas: 1, template: "+
				template(1)+"}, {groupName: b, minReplicas: 3, suspend: true, template: "+template(1)+"}]}"),
			[]string{"RayCluster/r: head 1×0 spec.headGroupSpec.template", "RayCluster/r: a 8×1 spec.workerGroupSpecs[0].template", "RayCluster/r: b 0×1 spec.workerGroupSpecs[1].template"}},
		{"RayJob adds its submitter, GPUs of the template included",
			object("ray.io/v1", "RayJob", "r", "spec: {shutdownAfterJobFinishes: true, submitterPodTemplate: "+template(1)+", rayClusterSpec: {headGroupSpec: {template: "+template(0)+"}}}"),
			[]string{"RayJob/r: head 1×0 spec.rayClusterSpec.headGroupSpec.template", "RayJob/r: submitter 1×1 spec.submitterPodTemplate"}},
		{"RayJob in HTTPMode has no submitter",
			object("ray.io/v1", "RayJob", "r", "spec: {shutdownAfterJobFinishes: true, submissionMode: HTTPMode, rayClusterSpec: {headGroupSpec: {template: "+template(0)+"}}}"),
			[]string{"RayJob/r: head 1×0 spec.rayClusterSpec.headGroupSpec.template"}},
		{"RayService has the pod sets of its cluster",
			object("ray.io/v1", "RayService", "r", "spec: {rayClusterConfig: {headGroupSpec: {template: "+template(1)+"}}}"),
			[]string{"RayService/r: head 1×1 spec.rayClusterConfig.headGroupSpec.template"}},
		{"AppWrapper numbers the pod sets of all components",
			object("workload.codeflare.dev/v1beta2", "AppWrapper", "a", "spec: {components: [{template: {apiVersion: v1, kind: Service}}, "+
				"{template: {apiVersion: batch/v1, kind: Job, spec: {parallelism: 3, completions: 2, template: "+template(1)+"}}}, "+
				"{podSets: [{path: template.spec.pods, replicas: 5}, {path: template.spec.nowhere}], template: {apiVersion: x.example/v1, kind: Other, spec: {pods: "+template(2)+"}}}]}"),
			[]string{"AppWrapper/a: a-0 2×1 spec.components[1].template.spec.template", "AppWrapper/a: a-1 5×2 spec.components[2].template.spec.pods"}},
		{"AppWrapper finds the pods of a JobSet, a PyTorchJob and a RayCluster",
			object("workload.codeflare.dev/v1beta2", "AppWrapper", "a", "spec: {components: ["+
				"{template: {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: [{replicas: 2, template: {spec: {parallelism: 3, template: "+template(1)+"}}}]}}}, "+
				"{template: {apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs: {Worker: {replicas: 4, template: "+template(1)+"}}}}}, "+
				"{template: {apiVersion: ray.io/v1, kind: RayCluster, spec: {headGroupSpec: {template: "+template(0)+"}, workerGroupSpecs: [{replicas: 2, numOfHosts: 9, template: "+template(1)+"}]}}}]}"),
			[]string{"AppWrapper/a: a-0 6×1 spec.components[0].template.spec.replicatedJobs[0].template.spec.template",
				"AppWrapper/a: a-1 4×1 spec.components[1].template.spec.pytorchReplicaSpecs.Worker.template",
				"AppWrapper/a: a-2 1×0 spec.components[2].template.spec.headGroupSpec.template",
				"AppWrapper/a: a-3 2×1 spec.components[2].template.spec.workerGroupSpecs[0].template"}},
		{"SparkApplication: a driver and its executors, none unless said",
			object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "s", "spec: {driver: {cores: 4}, executor: {instances: 3}}") +
				object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "t", "spec: {driver: {}, executor: {}}"),
			[]string{"SparkApplication/s: driver 1×0 spec.driver", "SparkApplication/s: executor 3×0 spec.executor",
				"SparkApplication/t: driver 1×0 spec.driver", "SparkApplication/t: executor 0×0 spec.executor"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, w := range findIn(t, "manifest.yaml", []byte(everyFramework+tc.yaml)) {
				if w.State != Managed {
					t.Errorf("%s is %s: %v", w.OwnerRef, w.State, w.Reasons)
				}
				owner := w.OwnerRef.Kind + "/" + w.OwnerRef.Name
				if w.Index >= 0 {
					owner += fmt.Sprintf("[%d]", w.Index)
				}
				for _, line := range asks(w) {
					got = append(got, owner+": "+line)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// requests tells what the containers of a pod set ask for, sorted.
func requests(ps PodSet) []string {
	var out []string
	for _, c := range ps.Template.Spec.Containers {
		for name, q := range c.Resources.Requests {
			out = append(out, c.Name+" "+string(name)+" "+q.String())
		}
	}
	slices.Sort(out)
	return out
}

// TestEveryKindOfJobHasARule: a row of package jobs without a rule here would be decoded, offered and never charged.
func TestEveryKindOfJobHasARule(t *testing.T) {
	var got []*jobs.Kind
	for _, k := range kinds {
		got = append(got, k.Kind)
		if k.podSets == nil && k.care != byPod {
			t.Errorf("%s makes no pod sets", k.GroupKind)
		}
	}
	if !slices.Equal(got, jobs.All()) {
		t.Errorf("kinds are not those of package jobs, in their order")
	}
}

func TestWhatKueueAddsToTemplates(t *testing.T) {
	head := "{headGroupSpec: {template: {spec: {containers: [{name: ray, resources: {requests: {cpu: 100m, memory: 1Gi}}}]}}}"
	for _, tc := range []struct {
		name, yaml, version string
		podSet              int
		want                []string
	}{
		{"the autoscaler of a Ray cluster, as KubeRay makes it",
			rayElastic("spec: " + head + ", enableInTreeAutoscaling: true}"), "v0.19.2", 0,
			[]string{"autoscaler cpu 500m", "autoscaler memory 512Mi", "ray cpu 100m", "ray memory 1Gi"}},
		{"the autoscaler with requests of its own",
			rayElastic("spec: " + head + ", enableInTreeAutoscaling: true, autoscalerOptions: {resources: {requests: {cpu: 1}}}}"), "v0.19.2", 0,
			[]string{"autoscaler cpu 1", "ray cpu 100m", "ray memory 1Gi"}},
		{"no autoscaler before 0.19",
			rayElastic("spec: " + head + ", enableInTreeAutoscaling: true}"), "v0.18.6", 0,
			[]string{"ray cpu 100m", "ray memory 1Gi"}},
		{"what the cleanup of Redis needs raises a smaller head",
			object("ray.io/v1", "RayCluster", "r", "spec: "+head+", gcsFaultToleranceOptions: {redisAddress: x}}"), "v0.19.2", 0,
			[]string{"ray cpu 200m", "ray memory 1Gi"}},
		{"fault tolerance that is null is none",
			object("ray.io/v1", "RayCluster", "r", "spec: "+head+", gcsFaultToleranceOptions: null}"), "v0.19.2", 0,
			[]string{"ray cpu 100m", "ray memory 1Gi"}},
		{"the sidecar submitter sits in the head",
			object("ray.io/v1", "RayJob", "r", "spec: {shutdownAfterJobFinishes: true, submissionMode: SidecarMode, rayClusterSpec: "+head+"}}"), "v0.19.2", 0,
			[]string{"ray cpu 100m", "ray memory 1Gi", "ray-job-submitter cpu 500m", "ray-job-submitter memory 200Mi"}},
		{"the default submitter",
			object("ray.io/v1", "RayJob", "r", "spec: {shutdownAfterJobFinishes: true, rayClusterSpec: "+head+"}}"), "v0.19.2", 1,
			[]string{"ray-job-submitter cpu 500m", "ray-job-submitter memory 200Mi"}},
		{"Spark: cpu from coreRequest alone, memory in Java's units, no overhead, sidecars",
			object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "s", "spec: {driver: {cores: 4, memory: 512m, memoryOverhead: 1g, sidecars: [{name: log, resources: {requests: {cpu: 100m}}}]}, executor: {}}"), "v0.19.2", 0,
			[]string{"log cpu 100m", "spark-kubernetes-driver memory 512Mi"}},
		{"Spark from 0.19.6: cores, and memory with its overhead",
			object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "s", "spec: {driver: {cores: 4, memory: 512m, memoryOverhead: 1g}, executor: {}}"), "v0.19.6", 0,
			[]string{"spark-kubernetes-driver cpu 4", "spark-kubernetes-driver memory 1536Mi"}},
		{"Spark's own defaults: one core, 1g, and 384 MiB of overhead at least",
			object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "s", "spec: {driver: {}, executor: {}}"), "v0.20.0", 0,
			[]string{"spark-kubernetes-driver cpu 1", "spark-kubernetes-driver memory 1408Mi"}},
		{"what is not of the JVM gets two fifths more; properties of Spark count where the spec is silent",
			object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "s", "spec: {type: Python, sparkConf: {spark.executor.memory: 10g, spark.executor.cores: '2'}, driver: {}, executor: {coreRequest: 500m}}"), "v0.20.0", 1,
			[]string{"spark-kubernetes-executor cpu 500m", "spark-kubernetes-executor memory 14Gi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ws := findWith(t, []byte(everyFramework+tc.yaml), tc.version)
			if len(ws) != 1 || len(ws[0].PodSets) <= tc.podSet {
				t.Fatalf("want one workload with pod set %d, got %v", tc.podSet, ws)
			}
			if diff := cmp.Diff(tc.want, requests(ws[0].PodSets[tc.podSet])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func rayElastic(body string) string {
	return strings.Replace(object("ray.io/v1", "RayCluster", "r", body), "labels:", `annotations: {kueue.x-k8s.io/elastic-job: "true"}, labels:`, 1)
}

func TestTrainJobRendering(t *testing.T) {
	const step = "metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}"
	node := "containers: [{name: node, resources: {requests: {nvidia.com/gpu: 1}}}]"
	runtime := func(policy string) string {
		return "\n---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: shared}\nspec: {mlPolicy: " + policy +
			", template: {spec: {replicatedJobs: [{name: prepare, template: {spec: {parallelism: 2, template: " + template(0) + "}}}, " +
			"{name: node, replicas: 7, template: {" + step + ", spec: {template: {spec: {" + node + "}}}}}]}}}"
	}
	job := func(spec string) string {
		return object("trainer.kubeflow.org/v1alpha1", "TrainJob", "t", "spec: {runtimeRef: {name: shared}"+spec+"}")
	}
	const inRuntime = "spec.template.spec.replicatedJobs[0].template.spec.template"
	for _, tc := range []struct {
		name, yaml string
		want       []string
	}{
		{"the runtime's number of nodes, in one Job", runtime("{numNodes: 3}") + job(""),
			[]string{"prepare 2×0 " + inRuntime, "node 3×1 spec.template.spec.replicatedJobs[1].template.spec.template"}},
		{"the job's number of nodes and resources", runtime("{numNodes: 3, torch: {}}") + job(", trainer: {numNodes: 5, resourcesPerNode: {requests: {nvidia.com/gpu: 4}}}"),
			[]string{"prepare 2×0 " + inRuntime, "node 5×4 spec.trainer"}},
		{"with MPI the launcher may be a node", runtime("{mpi: {runLauncherAsNode: true}}") + job(", trainer: {numNodes: 4}"),
			[]string{"prepare 2×0 " + inRuntime, "node 3×1 spec.template.spec.replicatedJobs[1].template.spec.template"}},
		{"a patch of a manager is merged by container name", runtime("{numNodes: 1}") + job(", runtimePatches: [{manager: a.example/b, trainingRuntimeSpec: {template: {spec: {replicatedJobs: "+
			"[{name: node, template: {spec: {parallelism: 9, template: {spec: {nodeSelector: {zone: a}}}}}}]}}}}]"),
			[]string{"prepare 2×0 " + inRuntime, "node 1×1 spec.template.spec.replicatedJobs[1].template.spec.template"}},
		{"without the runtime, the JobSet that the trainer made tells the same", job("") +
			"\n---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: t, namespace: team, ownerReferences: [{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, name: t, controller: true}]}\n" +
			"spec: {replicatedJobs: [{name: node, template: {spec: {parallelism: 2, completions: 2, template: " + template(1) + "}}}]}",
			[]string{"node 2×1 spec.replicatedJobs[0].template.spec.template"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, w := range findIn(t, "manifest.yaml", []byte(everyFramework+tc.yaml)) {
				if w.OwnerRef.GroupKind() != cluster.TrainJob {
					continue
				}
				if diff := cmp.Diff(tc.want, asks(w)); diff != "" || w.State != Managed {
					t.Errorf("%s %v (-want +got):\n%s", w.State, w.Reasons, diff)
				}
			}
		})
	}
}

func TestAppWrapperCopiesOnlyPart(t *testing.T) {
	yaml := object("workload.codeflare.dev/v1beta2", "AppWrapper", "a", "spec: {components: [{template: {apiVersion: v1, kind: Pod, spec: {"+
		"resourceClaims: [{name: c, resourceClaimTemplateName: t}], runtimeClassName: boxed, resources: {requests: {cpu: 4}}, "+
		"initContainers: [{name: side, restartPolicy: Always}], containers: [{name: main, resources: {claims: [{name: c}]}}]}}}]}")
	ws := findIn(t, "manifest.yaml", []byte(everyFramework+yaml))
	if len(ws) != 1 || len(ws[0].PodSets) != 1 {
		t.Fatalf("want one workload with one pod set, got %v", ws)
	}
	spec := ws[0].PodSets[0].Template.Spec
	if !ws[0].LostClaims || len(spec.ResourceClaims) > 0 || len(spec.Containers[0].Resources.Claims) > 0 {
		t.Errorf("claims are to be lost: LostClaims %v, %v", ws[0].LostClaims, spec.ResourceClaims)
	}
	if spec.RuntimeClassName != nil || spec.Resources != nil || spec.InitContainers[0].RestartPolicy != nil {
		t.Errorf("runtime class, pod-level resources and the sidecar's restart policy are to be lost: %v", spec)
	}
}
