package report

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// research is the engine over testdata/research.yaml, less the documents of some kinds.
func research(t *testing.T, without ...string) (*config.Config, *admission.Engine) {
	t.Helper()
	_, conf, e := researchEdited(t, strings.NewReplacer(), without...)
	return conf, e
}

// researchEdited is the same with some of the text replaced.
func researchEdited(t *testing.T, edit *strings.Replacer, without ...string) (*cluster.Snapshot, *config.Config, *admission.Engine) {
	t.Helper()
	data, err := os.ReadFile("testdata/research.yaml")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := cluster.FromBytes(context.Background(), "research.yaml", []byte(edit.Replace(string(corpus.WithoutKinds(data, without...)))))
	if err != nil || len(snap.Problems) > 0 {
		t.Fatal(err, snap.Problems)
	}
	conf, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap, selector.Of(conf.Behavior)))
	return snap, conf, admission.New(engine, engine.Charges(workload.Find(snap, conf, workload.Options{})))
}

func researchSimulation(t *testing.T, replay bool, without ...string) *Simulation {
	conf, e := research(t, without...)
	return NewSimulation(conf, e.Simulate(replay), nil)
}

func researchQueues(t *testing.T, without ...string) *Queues {
	conf, e := research(t, without...)
	return NewQueues(conf, e.Trees(), nil)
}

func TestScreensOfQueuesAndSimulations(t *testing.T) {
	one := func(d *Queues) *Queues {
		d.keeps = func(n *admission.TreeNode) bool { return n.Name == "vision" }
		return d
	}
	only := researchSimulation(t, false)
	only.shows = func(c *charge.Charge) bool { return c.Workload.OwnerRef.Name == "llm" }
	cases := map[string]struct {
		document Document
		format   string
		terminal Terminal
	}{
		"queues.txt":              {document: researchQueues(t)},
		"queues-one.txt":          {document: one(researchQueues(t))},
		"queues-wide.txt":         {document: researchQueues(t), format: "wide", terminal: Terminal{Width: 140}},
		"queues-narrow.txt":       {document: researchQueues(t), terminal: Terminal{Width: 60}},
		"queues-ascii.txt":        {document: researchQueues(t), terminal: Terminal{ASCII: true}},
		"queues-color.txt":        {document: researchQueues(t), terminal: Terminal{Color: true}},
		"queues-no-workloads.txt": {document: researchQueues(t, "Workload")},
		"queues-none.txt":         {document: researchQueues(t, "ClusterQueue", "Cohort")},
		"queues.json":             {document: researchQueues(t), format: "json"},
		"simulate.txt":            {document: researchSimulation(t, false)},
		"simulate-replay.txt":     {document: researchSimulation(t, true)},
		"simulate-unknown.txt":    {document: researchSimulation(t, false, "LocalQueue")},
		"simulate-wide.txt":       {document: researchSimulation(t, false), format: "wide"},
		"simulate-one.txt":        {document: only},
		"simulate-narrow.txt":     {document: researchSimulation(t, false), terminal: Terminal{Width: 60}},
		"simulate-none.txt":       {document: researchSimulation(t, false, "Workload")},
		"simulate.json":           {document: researchSimulation(t, false), format: "json"},
		"simulate.yaml":           {document: researchSimulation(t, true), format: "yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { golden(t, name, printed(t, tc.document, tc.format, tc.terminal)) })
	}
}

func TestQueuesAndSimulationsPrintTheirKind(t *testing.T) {
	for _, tc := range []struct {
		document Document
		into     any
		names    string
	}{
		{researchQueues(t), &QueueList{}, "clusterqueue.kueue.x-k8s.io/language\nclusterqueue.kueue.x-k8s.io/robots\nclusterqueue.kueue.x-k8s.io/vision\n"},
		{researchSimulation(t, true), &SimulationResult{}, "job.batch/arm\njob.batch/detect\njob.batch/huge\njob.batch/llm\njob.batch/train\n"},
	} {
		decoder := json.NewDecoder(bytes.NewReader(printed(t, tc.document, "json", Terminal{})))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(tc.into); err != nil {
			t.Errorf("%T: %v", tc.into, err)
		}
		if got := string(printed(t, tc.document, "name", Terminal{})); got != tc.names {
			t.Errorf("%T: -o name gives %q, want %q", tc.into, got, tc.names)
		}
	}
}
