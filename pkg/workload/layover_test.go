package workload_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// stored is a cluster with a job and its Workload.
const stored = corpus.JobsAlone + `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: low}, value: 10}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: pods}, value: 7}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: a, uid: u, labels: {kueue.x-k8s.io/queue-name: old, kueue.x-k8s.io/priority-class: low}}
spec: {parallelism: 3, suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: job-j, namespace: a, uid: w, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]}
spec:
  queueName: old
  priority: 10
  priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: low}
  podSets: [{name: main, count: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}]
status: {conditions: [{type: QuotaReserved, status: "False", reason: Pending, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}
`

// laid is the job as it would be applied.
const laid = `
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: a, labels: {kueue.x-k8s.io/queue-name: new, kueue.x-k8s.io/priority-class: high}}
spec: {parallelism: 2, suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`

// TestAWorkloadFollowsTheJobLaidOverIt: Kueue brings a Workload in step with its job as far as it may still change.
func TestAWorkloadFollowsTheJobLaidOverIt(t *testing.T) {
	const (
		reserved     = `status: "True", reason: QuotaReserved`
		pending      = `status: "False", reason: Pending`
		withClass    = "  priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: low}\n"
		ofPods       = "  priorityClassRef: {group: scheduling.k8s.io, kind: PriorityClass, name: pods}\n"
		classOfLaid  = ", kueue.x-k8s.io/priority-class: high"
		queueOfLaid  = "kueue.x-k8s.io/queue-name: new, "
		classMissing = ", kueue.x-k8s.io/priority-class: none"
	)
	for name, tc := range map[string]struct {
		stored, laid []string // pairs of old and new
		queue, class string
		priority     int32
		pods         int32
	}{
		"a waiting one":                                {nil, nil, "new", "high", 100, 2},
		"quota is reserved: the queue stays":           {[]string{pending, reserved}, nil, "old", "high", 100, 2},
		"quota is reserved without a class":            {[]string{pending, reserved, withClass, ""}, nil, "old", "", 10, 2},
		"waiting without a class: it is given one":     {[]string{withClass, ""}, nil, "new", "high", 100, 2},
		"the class of its pods":                        {[]string{withClass, ofPods}, nil, "new", "pods", 10, 2},
		"a class that does not exist: no update":       {nil, []string{classOfLaid, classMissing}, "new", "low", 10, 2},
		"the class is no longer named":                 {nil, []string{classOfLaid, ""}, "new", "", 0, 2},
		"the same class: an edited priority is kept":   {[]string{"priority: 10", "priority: 55"}, []string{"class: high", "class: low"}, "new", "low", 55, 2},
		"no queue is named any more: it keeps its own": {nil, []string{queueOfLaid, ""}, "old", "high", 100, 2},
		"it has finished":                              {[]string{"type: QuotaReserved, " + pending, `type: Finished, status: "True", reason: Succeeded`}, nil, "old", "low", 10, 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := cluster.NewBuilder(nil)
			read := func(text string, edit []string, opts cluster.InputOptions) {
				t.Helper()
				edited := strings.NewReplacer(edit...).Replace(text)
				if len(edit) > 0 && edited == text {
					t.Fatal("nothing to replace")
				}
				if err := source.ReadBytes(context.Background(), "objects.yaml", []byte(edited), b.Sink(opts)); err != nil {
					t.Fatal(err)
				}
			}
			read(stored, tc.stored, cluster.InputOptions{})
			read(laid, tc.laid, cluster.InputOptions{Laid: true})
			snap := b.Build()
			conf, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
			if err != nil || len(snap.Problems) > 0 {
				t.Fatal(err, snap.Problems)
			}
			found := workload.Find(snap, conf, workload.Options{})
			if len(found) != 1 {
				t.Fatalf("%d workloads", len(found))
			}
			w := found[0]
			if w.Queue != tc.queue || w.PriorityClass != tc.class || w.Priority != tc.priority || w.PodSets[0].Count != tc.pods {
				t.Errorf("queue %q, class %q, priority %d, %d pods\nwant %q, %q, %d, %d",
					w.Queue, w.PriorityClass, w.Priority, w.PodSets[0].Count, tc.queue, tc.class, tc.priority, tc.pods)
			}
		})
	}
}
