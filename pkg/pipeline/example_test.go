package pipeline_test

import (
	"context"
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
)

const dump = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [batch/job]}
resources:
  deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.example.com]}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [gpus]
    flavors: [{name: default, resources: [{name: gpus, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: ml}
spec: {clusterQueue: cq}
---
apiVersion: v1
kind: Namespace
metadata: {name: ml}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  suspend: true
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
      containers: [{name: main, image: train, resources: {claims: [{name: gpu}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadList
items: []
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: CohortList
items: []
`

// What the workloads of a dump are charged against quota.
func ExampleLoad() {
	layers, err := pipeline.Load(context.Background(), "dump.yaml", []byte(dump), config.Options{Version: "v0.19.2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range layers.Charges() {
		fmt.Println(c.Workload.OwnerRef.Name, c.Verdict, c.Total["gpus"])
	}
	// Output: train Charged 6
}

// What the next scheduling attempt would decide, and what it would decide after a change that nobody makes.
func ExampleLayers_WhatIf() {
	layers, err := pipeline.Load(context.Background(), "dump.yaml", []byte(dump), config.Options{Version: "v0.19.2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	queue := cluster.Ref{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "ClusterQueue", Name: "cq"}
	patch := `[{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "6"}]`
	larger, err := layers.WhatIf(cluster.Change{Ref: queue, Patch: []byte(patch)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range []*pipeline.Layers{layers, larger} {
		for _, c := range l.Charges() {
			fmt.Println(l.Decide(c).State)
		}
	}
	// Output:
	// Pending
	// Admitted
}
