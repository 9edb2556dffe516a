package explain_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
	"github.com/gpu-quota/kubectl-gpu-quota/test/queueload"
)

func queuesOf(snap *cluster.Snapshot) []*cluster.Object {
	return slices.Concat(snap.List(cluster.ClusterQueue), snap.List(cluster.LocalQueue))
}

// TestQueuesOfTheCorpus explains every recorded queue: the condition predicted is the one that Kueue wrote, everybody who
// waits is listed once and in order, and the first is explained.
func TestQueuesOfTheCorpus(t *testing.T) {
	seen := map[string]int{}
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" || !o.Golden {
			return // the dump is of this version
		}
		l := o.Load(t, o.Dump(t))
		engine := admission.New(l.Engine, l.Charges)
		explainer, trees := explain.New(l.Snapshot, l.Config, engine), engine.Trees()
		for _, object := range queuesOf(l.Snapshot) {
			q := explainer.Queue(object, trees, 0)
			if q.Reported == nil {
				continue
			}
			seen[q.Reported.Reason]++
			if q.Predicted.Status != metav1.ConditionUnknown && (q.Predicted.Reason != q.Reported.Reason || q.Predicted.Message != q.Reported.Message) {
				t.Errorf("%s: predicted %s %q, Kueue wrote %s %q", object.Ref, q.Predicted.Reason, q.Predicted.Message, q.Reported.Reason, q.Reported.Message)
			}
			checkLine(t, l, engine, q)
		}
	})
	for _, reason := range []string{"Ready", "Stopped", "FlavorNotFound", "AdmissionCheckNotFound", "AdmissionCheckInactive", "ClusterQueueIsInactive"} {
		if seen[reason] == 0 {
			t.Errorf("no queue of the corpus is %s", reason)
		}
	}
}

// checkLine compares the lists of a queue with what each workload's own decision and position say.
func checkLine(t *testing.T, l corpus.Layers, engine *admission.Engine, q *explain.Queue) {
	t.Helper()
	want := map[*charge.Charge]bool{}
	for _, c := range l.Charges {
		in := c.ClusterQueue == q.Ref.Name
		if q.Local != nil {
			in = c.Workload.Queue == q.Ref.Name && c.Workload.Namespace == q.Ref.Namespace
		}
		if in && engine.Position(c) != nil {
			want[c] = true
		}
	}
	last := 0
	for _, w := range q.Pending {
		if !want[w.Charge] {
			t.Errorf("%s: %s is listed, and does not wait in it", q.Ref, w.Charge.Workload.Name)
		}
		delete(want, w.Charge)
		if w.Position.ClusterQueue <= last {
			t.Errorf("%s: %s stands at %d after %d", q.Ref, w.Charge.Workload.Name, w.Position.ClusterQueue, last)
		}
		last = w.Position.ClusterQueue
	}
	for c := range want {
		t.Errorf("%s: %s waits in it, and is not listed", q.Ref, c.Workload.Name)
	}
	if (q.Head != nil) != (len(q.Pending) > 0) || q.Head != nil && q.Head.Charge != q.Pending[0].Charge {
		t.Errorf("%s: the first is not the one explained", q.Ref)
	}
	for _, w := range q.Outside {
		if engine.Position(w.Charge) != nil {
			t.Errorf("%s: %s stands in the queue and is said to wait outside", q.Ref, w.Charge.Workload.Name)
		}
	}
}

// TestAQueueOfTenThousand lists the first and counts the rest.
func TestAQueueOfTenThousand(t *testing.T) {
	export, err := queueload.Load{Queues: 1, Cohorts: 1, Pending: 10_000, Running: 4, Full: true}.Export()
	if err != nil {
		t.Fatal(err)
	}
	l, err := corpus.Load("load.json", export, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := admission.New(l.Engine, l.Charges)
	q := explain.New(l.Snapshot, l.Config, engine).Queue(l.Snapshot.Get(cluster.ClusterQueue, "", "q000"), engine.Trees(), 20)
	if len(q.Pending) != 20 || q.PendingTotal != 10_000 {
		t.Errorf("%d of %d are listed, want 20 of 10000", len(q.Pending), q.PendingTotal)
	}
	if q.Head == nil || len(q.Head.Binding) == 0 || len(q.Head.Holders) != 4 {
		t.Errorf("the first is not explained: %+v", q.Head)
	}
}

// TestTheQueuesOwnTopology is about what Kueue says of flavors whose Topology does not exist.
func TestTheQueuesOwnTopology(t *testing.T) {
	const text = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: rack}
spec: {topologyName: racks, nodeLabels: {a: b}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: rack, resources: [{name: cpu, nominalQuota: 1}]}]}]
`
	const other = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: NAME}\nspec: {levels: [{nodeLabel: kubernetes.io/hostname}]}\n"
	for name, tc := range map[string]struct {
		topology, want string
		verdict        explain.QueueVerdict
	}{
		"none in the input": {"", "", explain.QueueUnknown},
		"another one":       {"boxes", `Can't admit new workloads: there is no Topology "racks" for TAS flavor "rack".`, explain.QueueInactive},
		"it exists":         {"racks", "Can admit new workloads", explain.QueueActive},
	} {
		t.Run(name, func(t *testing.T) {
			objects := text
			if tc.topology != "" {
				objects += strings.ReplaceAll(other, "NAME", tc.topology)
			}
			snap, err := cluster.FromBytes(context.Background(), "q.yaml", []byte(objects))
			if err != nil {
				t.Fatal(err)
			}
			conf, err := config.Resolve(snap, config.Options{})
			if err != nil {
				t.Fatal(err)
			}
			l := corpus.LayersOf(snap, conf)
			engine := admission.New(l.Engine, l.Charges)
			q := explain.New(snap, conf, engine).Queue(snap.Get(cluster.ClusterQueue, "", "q"), engine.Trees(), 0)
			if q.Verdict != tc.verdict || q.Predicted.Message != tc.want {
				t.Errorf("%s %q, want %s %q", q.Verdict, q.Predicted.Message, tc.verdict, tc.want)
			}
		})
	}
}
