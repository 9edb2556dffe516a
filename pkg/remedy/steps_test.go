package remedy_test

import (
	"context"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// manyQueues are a namespace with LocalQueues of which the first, by name, are of no use.
const manyQueues = corpus.JobsAlone + `
{apiVersion: v1, kind: Namespace, metadata: {name: a}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu.example.com}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: spot}, spec: {nodeTaints: [{key: spot, effect: NoSchedule}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: held}, spec: {stopPolicy: Hold, namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 9}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: choosy}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 9}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: tainted}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: spot, resources: [{name: cpu, nominalQuota: 1}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: small}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: a-held, namespace: a}, spec: {clusterQueue: held}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: b-choosy, namespace: a}, spec: {clusterQueue: choosy}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: c-gone, namespace: a}, spec: {clusterQueue: gone}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: d-tainted, namespace: a}, spec: {clusterQueue: tainted}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: e-small, namespace: a}, spec: {clusterQueue: small}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: a, uid: u, labels: {kueue.x-k8s.io/queue-name: c-gone}}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadList, items: []}
---
{apiVersion: v1, kind: LimitRangeList, items: []}
`

// TestStepsLeadThroughAQueueThatTakesTheWorkload: where no change alone does, the first step is to a queue that takes the
// workload, and of several ways the one of the fewest changes is offered.
func TestStepsLeadThroughAQueueThatTakesTheWorkload(t *testing.T) {
	snap, err := cluster.FromBytes(context.Background(), "queues.yaml", []byte(manyQueues))
	if err != nil || len(snap.Problems) > 0 {
		t.Fatal(err, snap.Problems)
	}
	conf, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	l := corpus.LayersOf(snap, conf)
	x := remedy.New(explain.New(snap, conf, admission.New(l.Engine, l.Charges))).Explain(l.Charges[0])
	const want = "use LocalQueue e-small instead of c-gone; then ClusterQueue small: raise nominalQuota of cpu in flavor f from 2 to 4"
	if len(x.Remedies) != 1 || x.Remedies[0].Action != want {
		t.Fatalf("offered %+v, want only %q", x.Remedies, want)
	}
	if got := after(t, l, l.Charges[0], x.Remedies[0]); got != explain.Admitted {
		t.Errorf("with it, it is %s", got)
	}
}
