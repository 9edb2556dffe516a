package workload

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

func TestWorkloadNames(t *testing.T) {
	short := map[string]bool{release.ShortWorkloadNames: true}
	for _, tc := range []struct {
		name, owner, extra string
		gates              map[string]bool
		wantPrefix         string
		wantLength         int
	}{
		{name: "kind and name", owner: "train", wantPrefix: "job-train-", wantLength: len("job-train-") + 5},
		{name: "a long name is cut", owner: strings.Repeat("x", 300), wantPrefix: "job-xxx", wantLength: 253},
		{name: "shorter with the gate", owner: strings.Repeat("x", 300), gates: short, wantPrefix: "job-xxx", wantLength: 63},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Name(&config.Config{Gates: tc.gates}, cluster.Job, tc.owner, "uid", tc.extra)
			if !strings.HasPrefix(got, tc.wantPrefix) || len(got) != tc.wantLength {
				t.Errorf("got %s (%d characters)", got, len(got))
			}
		})
	}
	cfg := &config.Config{}
	if a, b := Name(cfg, cluster.Job, "j", "u", ""), Name(cfg, cluster.Job, "j", "u", "2"); a == b {
		t.Errorf("generations of an elastic job must have different names, both are %s", a)
	}
}

// TestOwnersByName: Workloads stripped of their owner references are still linked, by the name Kueue gives.
func TestOwnersByName(t *testing.T) {
	objects := configuration("batch/job, leaderworkerset.x-k8s.io/leaderworkerset") + job("name: j, uid: aa, "+withQueue) +
		plain("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "name: l, uid: bb, "+withQueue, "spec: {replicas: 2, leaderWorkerTemplate: {workerTemplate: {spec: {}}}}")
	cfg := &config.Config{}
	for _, name := range []string{Name(cfg, cluster.Job, "j", "aa", ""), Name(cfg, cluster.LeaderWorkerSet, "l-1", "bb", "")} {
		objects += plain("kueue.x-k8s.io/v1beta2", "Workload", "name: "+name+", uid: "+name, "spec: {podSets: []}")
	}
	var got []string
	for _, w := range findIn(t, "input.yaml", []byte(objects)) {
		how := "made"
		if w.Object != nil {
			how = "in the input"
		}
		got = append(got, w.OwnerRef.Kind+" "+w.Name+" "+how)
	}
	want := []string{
		"Job " + Name(cfg, cluster.Job, "j", "aa", "") + " in the input",
		"LeaderWorkerSet " + Name(cfg, cluster.LeaderWorkerSet, "l-0", "bb", "") + " made",
		"LeaderWorkerSet " + Name(cfg, cluster.LeaderWorkerSet, "l-1", "bb", "") + " in the input",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPriorities(t *testing.T) {
	classes := "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 5\n" +
		"\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: pods}\nvalue: 7\n"
	globals := "\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: a}\nvalue: 9\nglobalDefault: true\n" +
		"\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: b}\nvalue: 8\nglobalDefault: true\n"
	withClass := "spec: {template: {spec: {priorityClassName: pods, containers: [{name: main}]}}}"
	torch := func(policy string) string {
		return plain("kubeflow.org/v1", "PyTorchJob", "name: j, "+withQueue, "spec: {"+policy+"pytorchReplicaSpecs: {Worker: {template: {spec: {priorityClassName: pods}}}, Master: {template: {spec: {}}}}}")
	}
	for _, tc := range []struct {
		name, yaml, wantClass string
		want                  int32
		wantMissing           string
	}{
		{name: "the label before the pods' class", yaml: classes + plain("batch/v1", "Job", "name: j, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high}", withClass), wantClass: "high", want: 5},
		{name: "the pods' class", yaml: classes + plain("batch/v1", "Job", "name: j, "+withQueue, withClass), wantClass: "pods", want: 7},
		{name: "of several global defaults the lowest", yaml: globals + job("name: j, "+withQueue), wantClass: "b", want: 8},
		{name: "none", yaml: job("name: j, " + withQueue)},
		{name: "a scheduling policy before the roles", yaml: classes + torch("runPolicy: {schedulingPolicy: {priorityClass: system-cluster-critical}}, "), wantClass: "system-cluster-critical", want: 2_000_000_000},
		{name: "the first role that names a class", yaml: classes + torch(""), wantClass: "pods", want: 7},
		{name: "classes that are not in the input", yaml: plain("batch/v1", "Job", "name: j, "+withQueue, withClass), wantClass: "pods", wantMissing: "PriorityClass"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, w := range findIn(t, "input.yaml", []byte(everyFramework+tc.yaml)) {
				if w.PriorityClass != tc.wantClass || w.Priority != tc.want || w.PriorityMissing != tc.wantMissing || w.State != Managed {
					t.Errorf("%s: class %q, priority %d, missing %q", w.State, w.PriorityClass, w.Priority, w.PriorityMissing)
				}
			}
		})
	}
}

func TestReclaimablePods(t *testing.T) {
	jobStatus := func(spec, status string) string {
		return plain("batch/v1", "Job", "name: j, "+withQueue, "spec: {"+spec+", template: {spec: {}}}\nstatus: {"+status+"}")
	}
	for _, tc := range []struct {
		name, yaml, version string
		want                int32
	}{
		{"three of five done, four at a time", jobStatus("parallelism: 4, completions: 5", "succeeded: 3"), "v0.19.2", 2},
		{"one at a time gives nothing back", jobStatus("parallelism: 1, completions: 5", "succeeded: 4"), "v0.19.2", 0},
		{"enough is left to do", jobStatus("parallelism: 2, completions: 5", "succeeded: 3"), "v0.19.2", 0},
		{"indexes done or failed, overlapping, above the end", jobStatus("completionMode: Indexed, parallelism: 4, completions: 4", "completedIndexes: '0-1,9', failedIndexes: '1-2'"), "v0.19.2", 3},
		{"failed indexes did not count in 0.19.0", jobStatus("completionMode: Indexed, parallelism: 4, completions: 4", "completedIndexes: '0-1', failedIndexes: '2'"), "v0.19.0", 2},
		{"a JobSet gives back whole Jobs", plain("jobset.x-k8s.io/v1alpha2", "JobSet", "name: s, "+withQueue,
			"spec: {replicatedJobs: [{name: a, replicas: 3, template: {spec: {parallelism: 2, template: {}}}}]}\nstatus: {replicatedJobsStatus: [{name: a, succeeded: 2}]}"), "v0.19.2", 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, w := range findWith(t, []byte(everyFramework+tc.yaml), tc.version) {
				if got := w.PodSets[0].Reclaimable; got != tc.want {
					t.Errorf("reclaimable %d, want %d", got, tc.want)
				}
			}
		})
	}
}

// TestRoleHash holds the hash to one that a running Kueue wrote into a pod's annotation.
func TestRoleHash(t *testing.T) {
	data := configuration("pod") + plain("v1", "Pod", "name: p, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: '1'}",
		"spec: {containers: [{name: main, image: any, resources: {requests: {cpu: 1000m}, limits: {nvidia.com/gpu: 1}}}]}")
	ws := findIn(t, "input.yaml", []byte(data))
	if len(ws) != 1 || ws[0].PodSets[0].Name != "b168d124" {
		t.Errorf("want role b168d124, got %+v", ws[0].PodSets)
	}
}

// TestNothingPanics: objects that lack everything are listed or left out, whatever the version.
func TestNothingPanics(t *testing.T) {
	objects := everyFramework
	for _, k := range kinds {
		objects += plain(k.apiVersion(), k.GroupKind.Kind, "name: empty, "+withQueue, "spec: {}")
		objects += plain(k.apiVersion(), k.GroupKind.Kind, "name: bare, "+withQueue, "status: {}")
	}
	snap, err := cluster.FromBytes(context.Background(), "input.yaml", []byte(objects))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v0.17.0", "v0.18.6", "v0.19.0", "v0.19.2", "main"} {
		if got := findAt(t, snap, version); len(got) < 2*len(kinds)-2 {
			t.Errorf("%s: %d entries for %d objects", version, len(got), 2*len(kinds))
		}
	}
}
