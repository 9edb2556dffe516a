package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
)

// researchQueueExplanations explains every queue of testdata/research.yaml.
func researchQueueExplanations(t *testing.T, most int, without ...string) *QueueExplanations {
	t.Helper()
	return queueExplanations(t, strings.NewReplacer(), most, "", without...)
}

// queueExplanations explains the queues of a name, or all, with some of the text replaced.
func queueExplanations(t *testing.T, edit *strings.Replacer, most int, name string, without ...string) *QueueExplanations {
	t.Helper()
	snap, conf, engine := researchEdited(t, edit, without...)
	explainer, trees := remedy.New(explain.New(snap, conf, engine)), engine.Trees()
	var items []*explain.Queue
	for _, o := range append(snap.List(cluster.ClusterQueue), snap.List(cluster.LocalQueue)...) {
		if name == "" || o.Ref.Name == name {
			items = append(items, explainer.Queue(o, trees, most))
		}
	}
	return NewQueueExplanations(conf, trees, items)
}

func TestScreensOfExplainedQueues(t *testing.T) {
	edited := func(pairs ...string) *strings.Replacer { return strings.NewReplacer(pairs...) }
	held := edited("reservingWorkloads: 1", "reservingWorkloads: 1\n  pendingWorkloads: 2", "namespaceSelector: {}\n  preemption", "namespaceSelector: {}\n  stopPolicy: HoldAndDrain\n  preemption")
	for name, tc := range map[string]struct {
		document *QueueExplanations
		format   string
		terminal Terminal
	}{
		"explain-queues.txt":              {document: researchQueueExplanations(t, 20)},
		"explain-queues-bounded.txt":      {document: queueExplanations(t, edited(), 1, "language")},
		"explain-queues-narrow.txt":       {document: queueExplanations(t, edited(), 20, "vision"), terminal: Terminal{Width: 60}},
		"explain-queues-color.txt":        {document: queueExplanations(t, edited(), 20, "vision"), terminal: Terminal{Color: true}},
		"explain-queues-ascii.txt":        {document: queueExplanations(t, edited(), 20, "vision"), terminal: Terminal{ASCII: true}},
		"explain-queues-drained.txt":      {document: queueExplanations(t, held, 20, "vision")},
		"explain-queues-no-flavor.txt":    {document: queueExplanations(t, edited("name: a100}\nspec", "name: h100}\nspec"), 20, "vision")},
		"explain-queues-no-workloads.txt": {document: queueExplanations(t, edited(), 20, "vision", "Workload")},
		"explain-queues-no-flavors.txt":   {document: queueExplanations(t, edited(), 20, "vision", "ResourceFlavor")},
		"explain-queues-nowhere.txt":      {document: queueExplanations(t, edited("spec: {clusterQueue: robots}", "spec: {clusterQueue: rockets}"), 20, "robots")},
		"explain-queues-none.txt":         {document: queueExplanations(t, edited(), 20, "no such")},
		"explain-queues.json":             {document: queueExplanations(t, edited(), 20, "language"), format: "json"},
		"explain-queues-drained.yaml":     {document: queueExplanations(t, held, 20, "vision"), format: "yaml"},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, printed(t, tc.document, tc.format, tc.terminal)) })
	}
}

func TestExplainedQueuesPrintTheirKind(t *testing.T) {
	d := researchQueueExplanations(t, 20)
	decoder := json.NewDecoder(bytes.NewReader(printed(t, d, "json", Terminal{})))
	decoder.DisallowUnknownFields()
	var list QueueExplanationList
	if err := decoder.Decode(&list); err != nil {
		t.Fatal(err)
	}
	want := "clusterqueue.kueue.x-k8s.io/language\nclusterqueue.kueue.x-k8s.io/robots\nclusterqueue.kueue.x-k8s.io/vision\n" +
		"localqueue.kueue.x-k8s.io/language\nlocalqueue.kueue.x-k8s.io/robots\nlocalqueue.kueue.x-k8s.io/vision\n"
	if got := string(printed(t, d, "name", Terminal{})); got != want {
		t.Errorf("-o name gives %q", got)
	}
}

// TestALongQueueIsCounted holds what is listed to the number asked for, and the numbers of the rest to the truth.
func TestALongQueueIsCounted(t *testing.T) {
	for most := range 3 {
		d := queueExplanations(t, strings.NewReplacer(), most, "vision")
		for item := range d.Items() {
			q := item.(*QueueExplanation)
			if most > 0 && (len(q.Pending) > most || len(q.Outside) > most) {
				t.Errorf("%d and %d are listed, more than %d", len(q.Pending), len(q.Outside), most)
			}
			if want := q.Account.Pending; *q.PendingTotal != want {
				t.Errorf("%s counts %d, its account %d", fmt.Sprint(q.Queue), *q.PendingTotal, want)
			}
			if most == 0 && len(q.Pending) != *q.PendingTotal {
				t.Errorf("%d of %d are listed", len(q.Pending), *q.PendingTotal)
			}
		}
	}
}
