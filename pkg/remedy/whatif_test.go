package remedy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// TestTryingChangesIsBounded: of very many workloads that are refused, the last ones are told that not everything was
// tried for them; one of them alone has everything tried.
func TestTryingChangesIsBounded(t *testing.T) {
	snap, err := cluster.FromBytes(context.Background(), "refused.yaml", []byte(refusedJobs(3)))
	if err != nil || len(snap.Problems) > 0 {
		t.Fatal(err, snap.Problems)
	}
	conf, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap, selector.Of(conf.Behavior)))
	charges := engine.Charges(workload.Find(snap, conf, workload.Options{}))
	explained := func(done int, c *charge.Charge) *explain.Explanation {
		e := New(explain.New(snap, conf, admission.New(engine, charges)))
		e.whatIfs.work.done = done
		return e.Explain(c)
	}
	for _, c := range charges {
		if x := explained(0, c); x.Untried || len(x.Remedies) == 0 {
			t.Errorf("%s alone: %d remedies, untried %t", c.Workload.Name, len(x.Remedies), x.Untried)
		}
		if x := explained(mostWork+1, c); !x.Untried || len(x.Remedies) > 0 {
			t.Errorf("%s after all the others: %d remedies, untried %t", c.Workload.Name, len(x.Remedies), x.Untried)
		}
	}
	e := New(explain.New(snap, conf, admission.New(engine, charges)))
	e.Explain(charges[0])
	first := e.whatIfs.work.done
	e.Explain(charges[1])
	if first == 0 || e.whatIfs.work.done <= first {
		t.Errorf("work is not counted: %d after one workload, %d after two", first, e.whatIfs.work.done)
	}
}

// refusedJobs are jobs in a LocalQueue that is stopped, beside one that is not.
func refusedJobs(n int) string {
	var b strings.Builder
	b.WriteString(`
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data: {controller_manager_config.yaml: "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: other}
spec: {}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: stopped, namespace: team}
spec: {clusterQueue: cq, stopPolicy: Hold}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: open, namespace: team}
spec: {clusterQueue: cq}
`)
	for i := range n {
		fmt.Fprintf(&b, `---
apiVersion: batch/v1
kind: Job
metadata: {name: j%[1]d, namespace: team, uid: j%[1]d, labels: {kueue.x-k8s.io/queue-name: stopped}}
spec: {parallelism: 1, suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w%[1]d, namespace: team, uid: w%[1]d, creationTimestamp: '2026-01-05T08:0%[1]d:00Z', ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j%[1]d, uid: j%[1]d, controller: true}]}
spec:
  active: true
  queueName: stopped
  priority: 0
  podSets:
  - {name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 1}}}]}}}
`, i)
	}
	return b.String()
}
