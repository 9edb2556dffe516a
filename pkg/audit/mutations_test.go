package audit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// edit changes a text in the documents of the fixture that contain another one.
type edit struct{ in, old, new string }

const (
	plugin      = `"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}`
	freeJob     = `{apiVersion: batch/v1, kind: Job, metadata: {name: free, namespace: team-b, uid: u9}, spec: {parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}}, status: {active: 2}}`
	lessForHalf = `"resourceUsage": {"gpu.memory": "15Gi"}`
)

// TestEveryDifferenceHasItsSentence changes one thing of the cluster and looks for what is said of it. What the cluster shows as
// it is stands in the other tests, and in the screens of package report.
func TestEveryDifferenceHasItsSentence(t *testing.T) {
	half := edit{`"name": "job-train"`, `"resourceUsage": {"gpu.memory": "20Gi"}`, lessForHalf}
	for name, tc := range map[string]struct {
		edits   []edit
		more    string
		without []string
		want    string
	}{
		"devices published anew": {
			edits: []edit{half, {"name: a100-1-devices", "{name: a100-1-devices}", `{name: a100-1-devices, creationTimestamp: "2026-03-02T08:00:00Z"}`}},
			want:  "DevicesChanged Workload team-a/job-train: gpu.memory: ResourceSlice a100-1-devices was made at 2026-03-02T08:00:00Z, after it got its quota at 2026-03-01T10:00:00Z",
		},
		"a charge that nothing explains": {
			edits: []edit{half},
			want:  "NotTold Workload team-a/job-train: gpu.memory: the objects now give another charge, and do not tell what has changed since its admission",
		},
		"a mapping that is gone, of what the pods do not ask for": {
			edits: []edit{{`"name": "infer"`, plugin, `"resources": {}`}},
			want:  "MappingChanged Workload team-a/job-infer: nvidia.com/gpu: no device class is mapped to nvidia.com/gpu now, and its pods do not ask for it",
		},
		"more allocated than reserved": {
			edits: []edit{half},
			want:  "AllocatedAboveReserved ClusterQueue team-a: claims of its workloads hold 30Gi of gpu.memory, and 25Gi is reserved",
		},
		"quota in a queue that is gone": {
			edits: []edit{{`"name": "job-infer"`, `"clusterQueue": "team-a"`, `"clusterQueue": "closed"`}},
			want:  "QueueGone ClusterQueue closed: it is not in the input, and quota is held in it (by 1 Workload): the ledger does not have that",
		},
		"a claim of nobody": {
			edits: []edit{{`"kind": "ResourceClaim", "metadata": {"name": "mine"`, `"reservedFor": [{"resource": "pods", "name": "debug", "uid": "pod-debug"}]`, `"reservedFor": []`}},
			want:  "Uncounted ResourceClaim team-b/mine: whole-gpusgpu.example.com: it is reserved for no pod",
		},
		"a pod that runs before its workload is admitted": {
			edits: []edit{{`"kind": "Pod", "metadata": {"name": "serve-1"`, `"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]`, `"nodeName": "plugin-1"`}},
			want:  "Uncounted Pod team-a/serve-1: nvidia.com/gpu: its workload holds no quota",
		},
		"a pod with more than its workload says": {
			edits: []edit{{`"name": "job-infer"`, `"flavors": {"nvidia.com/gpu": "t4"}, "resourceUsage": {"nvidia.com/gpu": "1"}`, `"flavors": {}, "resourceUsage": {}`}},
			want:  "Uncounted Pod team-a/infer-0: nvidia.com/gpu: its workload is charged for no devices",
		},
		"a pod that names its claim": {
			edits: []edit{{`"kind": "Pod", "metadata": {"name": "train-0"`, `"resourceClaimTemplateName": "half"`, `"resourceClaimName": "train-0-gpu"`}},
			want:  "Uncounted Pod team-a/train-0: gpu.memorypart.example.com: the pod names the claim itself: Kueue charges only claims that are made from templates",
		},
		"a job without a queue, where the pods are not in the input": {
			more: freeJob, without: []string{"Pod"},
			want: "Uncounted Job team-b/free: nvidia.com/gpu: Kueue does not manage the job",
		},
		"idle quota in the same cohort": {
			edits: []edit{{"metadata: {name: reserve}", "spec:\n  namespace", "spec:\n  cohortName: research\n  namespace"}},
			want:  "IdleQueue ClusterQueue reserve: it uses none of its 10Gi of gpu.memory in flavor a100, and ClusterQueue team-b waits for it: it can be borrowed",
		},
		"idle quota that others may have borrowed": {
			edits: []edit{{"metadata: {name: reserve}", "spec:\n  namespace", "spec:\n  cohortName: research\n  namespace"}, {"metadata: {name: team-a}", "nominalQuota: 60Gi", "nominalQuota: 10Gi"}},
			want:  "IdleQueue ClusterQueue reserve: it uses none of its 10Gi of gpu.memory in flavor a100, of which others have borrowed 10Gi at most, and ClusterQueue team-b waits for it: it can be borrowed",
		},
		"idle quota of which others have borrowed some": {
			edits: []edit{{"metadata: {name: reserve}", "spec:\n  namespace", "spec:\n  cohortName: research\n  namespace"}, {"metadata: {name: team-a}", "nominalQuota: 60Gi", "nominalQuota: 10Gi"}, {"metadata: {name: team-b}", "nominalQuota: 40Gi", "nominalQuota: 15Gi"}},
			want:  "IdleQueue ClusterQueue reserve: it uses none of its 10Gi of gpu.memory in flavor a100, of which others have borrowed 5Gi to 10Gi, and ClusterQueue team-b waits for it: it can be borrowed",
		},
		"idle quota that may not be borrowed": {
			edits: []edit{{"metadata: {name: reserve}", "spec:\n  namespace", "spec:\n  cohortName: research\n  namespace"}, {"metadata: {name: team-b}", "nominalQuota: 40Gi", "nominalQuota: 40Gi, borrowingLimit: 0"}},
			want:  "IdleQueue ClusterQueue reserve: it uses none of its 10Gi of gpu.memory in flavor a100, and ClusterQueue team-b waits for it: it can't be borrowed now",
		},
		"idle quota that is not lent": {
			edits: []edit{{"metadata: {name: reserve}", "spec:\n  namespace", "spec:\n  cohortName: research\n  namespace"}, {"metadata: {name: reserve}", "nominalQuota: 10Gi", "nominalQuota: 10Gi, lendingLimit: 0"}},
			want:  "IdleQueue ClusterQueue reserve: it uses none of its 10Gi of gpu.memory in flavor a100, and ClusterQueue team-b waits for it: its lendingLimit keeps it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := says(t, edited(t, nil, "", tc.without...)), says(t, edited(t, tc.edits, tc.more, tc.without...))
			if strings.Contains(before, tc.want+"\n") || !strings.Contains(after, tc.want+"\n") {
				t.Errorf("want %q among\n%s", tc.want, after)
			}
		})
	}
}

// TestLentQuotaIsNotIdle: a queue that uses nothing of its quota wastes nothing where others have all of it.
func TestLentQuotaIsNotIdle(t *testing.T) {
	after := says(t, edited(t, []edit{
		{"metadata: {name: reserve}", "spec:\n  namespace", "spec:\n  cohortName: research\n  namespace"},
		{"metadata: {name: team-a}", "nominalQuota: 60Gi", "nominalQuota: 10Gi"},
		{"metadata: {name: team-b}", "nominalQuota: 40Gi", "nominalQuota: 10Gi"},
	}, ""))
	if strings.Contains(after, "IdleQueue ClusterQueue reserve: ") {
		t.Errorf("all of its quota is lent:\n%s", after)
	}
}

// edited is the fixture with changes.
func edited(t *testing.T, edits []edit, more string, without ...string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(data), "\n---\n")
	for _, e := range edits {
		changed := false
		for i, d := range documents {
			if strings.Contains(d, e.in) && strings.Contains(d, e.old) {
				documents[i], changed = strings.ReplaceAll(d, e.old, e.new), true
			}
		}
		if !changed {
			t.Fatalf("no document with %q holds %q", e.in, e.old)
		}
	}
	if more != "" {
		documents = append(documents, more)
	}
	return corpus.WithoutKinds([]byte(strings.Join(documents, "\n---\n")), without...)
}

// says is all that the report names, a line for each.
func says(t *testing.T, data []byte) string {
	t.Helper()
	load := func(data []byte) corpus.Layers {
		l, err := corpus.Load("cluster.yaml", data, config.Options{})
		if err != nil || len(l.Snapshot.Problems) > 0 {
			t.Fatal(err, l.Snapshot.Problems)
		}
		return l
	}
	var out strings.Builder
	for _, n := range of(load(data)).Compare(of(load(nil))).New {
		out.WriteString(n.Kind + " " + n.Subject + ": " + n.Text + "\n")
	}
	return out.String()
}
