// Package main compares the time that lint takes with that of kubeconform, on the same directory.
//
// In: the two programs. Out: the median of several runs of each, and exit code 1 when lint is slower.
//
// kubeconform validates against schemas that are generated from the Go types of the API modules, each in one file: what
// it has to check is what a cluster's own schemas say, and it has nothing to fetch.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// perDirectory is how many manifests stand in one directory.
const perDirectory = 100

// namespaces of the teams.
const namespaces = 40

// writeManifests writes count manifests as a repository has them: queues and classes once, then namespaces, templates,
// jobs and deployments of many teams, one file each.
func writeManifests(dir string, count int) error {
	files := []string{configuration, cohort, flavor, class("gpu", 1), class("mig", 2)}
	for i := range namespaces {
		files = append(files, expand(namespace, i, i), expand(localQueue, i, i), expand(clusterQueue, i, i),
			expand(template, i, i))
	}
	for i := range 32 {
		files = append(files, slice(i))
	}
	kinds := []string{claimJob, claimJob, plainJob, template, deployment}
	for i := 0; len(files) < count; i++ {
		files = append(files, expand(kinds[i%len(kinds)], i+namespaces, i%namespaces))
	}
	for i, text := range files[:count] {
		name := filepath.Join(dir, fmt.Sprintf("part-%03d", i/perDirectory), fmt.Sprintf("manifest-%05d.yaml", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// expand fills in a number and a team.
func expand(text string, n, team int) string {
	return strings.NewReplacer("NUMBER", fmt.Sprint(n), "TEAM", fmt.Sprintf("team-%d", team), "OWN",
		fmt.Sprint(team)).Replace(text)
}

func class(name string, _ int) string {
	return strings.ReplaceAll(deviceClass, "NAME", name)
}

// slice is one node with two GPUs.
func slice(n int) string {
	var devices strings.Builder
	for i := range 2 {
		fmt.Fprintf(&devices, device, i, i)
	}
	return expand(resourceSlice, n, n) + devices.String()
}

const configuration = `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations:
  frameworks: [batch/job, deployment, pod]
resources:
  deviceClassMappings:
  - name: whole-gpus
    deviceClassNames: [gpu.example.com, mig.example.com]
`

const cohort = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
`

const flavor = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
`

const deviceClass = `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: NAME.example.com}
spec:
  selectors:
  - cel: {expression: device.driver == "gpu.example.com"}
`

const namespace = `apiVersion: v1
kind: Namespace
metadata:
  name: TEAM
  labels: {team: TEAM}
`

const localQueue = `apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpu, namespace: TEAM}
spec: {clusterQueue: TEAM}
`

const clusterQueue = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: TEAM}
spec:
  cohortName: research
  namespaceSelector: {matchLabels: {team: TEAM}}
  resourceGroups:
  - coveredResources: [cpu, memory, whole-gpus]
    flavors:
    - name: default
      resources:
      - {name: cpu, nominalQuota: 128}
      - {name: memory, nominalQuota: 512Gi}
      - {name: whole-gpus, nominalQuota: 8}
`

const template = `# GPUs of one team.
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: gpu-NUMBER
  namespace: TEAM
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.example.com
          count: 1
          selectors:
          - cel:
              expression: device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0
`

const claimJob = `apiVersion: batch/v1
kind: Job
metadata:
  name: train-NUMBER
  namespace: TEAM
  labels:
    kueue.x-k8s.io/queue-name: gpu
    app.kubernetes.io/name: train
spec:
  parallelism: 2
  completions: 2
  template:
    metadata:
      labels: {app.kubernetes.io/name: train}
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:NUMBER
        command: ["python", "train.py", "--epochs", "10"]
        env:
        - {name: RUN, value: "NUMBER"}
        resources:
          requests: {cpu: "4", memory: 16Gi}
          claims: [{name: gpu}]
      resourceClaims:
      - {name: gpu, resourceClaimTemplateName: gpu-OWN}
`

const plainJob = `apiVersion: batch/v1
kind: Job
metadata:
  name: report-NUMBER
  namespace: TEAM
  labels: {kueue.x-k8s.io/queue-name: gpu}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/report:NUMBER
        resources:
          requests: {cpu: "2", memory: 4Gi}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve-NUMBER
  namespace: TEAM
spec:
  replicas: 2
  selector: {matchLabels: {app: serve-NUMBER}}
  template:
    metadata: {labels: {app: serve-NUMBER}}
    spec:
      containers:
      - name: web
        image: registry.example/serve:NUMBER
        ports: [{containerPort: 8080}]
        resources:
          requests: {cpu: 500m, memory: 1Gi}
          limits: {memory: 1Gi}
        readinessProbe:
          httpGet: {path: /healthz, port: 8080}
`

const resourceSlice = `apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-NUMBER}
spec:
  driver: gpu.example.com
  nodeName: node-NUMBER
  pool: {name: node-NUMBER, generation: 1, resourceSliceCount: 1}
  devices:
`

const device = `  - name: gpu-%d
    attributes:
      model: {string: A100}
      index: {int: %d}
    capacity:
      memory: {value: 80Gi}
`
