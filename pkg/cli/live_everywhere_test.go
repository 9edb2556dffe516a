package cli

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is said of a namespace's workloads does not depend on whether the others are shown.
func TestOneNamespaceIsExplainedAsAmongAll(t *testing.T) {
	// Kueue has made a Workload for the job of the other namespace, which waits in the same ClusterQueue.
	const other = `
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team-b}
spec: {clusterQueue: cluster-queue}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  {name: job-elsewhere-00000, namespace: team-b, creationTimestamp: "2026-03-01T08:30:00Z",
   ownerReferences: [{apiVersion: batch/v1, kind: Job, name: elsewhere, uid: 44444444-4444-4444-4444-444444444444, controller: true}]}
spec:
  queueName: lq
  podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, resources: {requests: {cpu: "1"}}}]}}}]
`
	r := &recorder{Handler: apiHandler(t, testdata(t, "cluster.yaml")+other)}
	server := serve(t, r)
	explain := func(args ...string) string {
		out, errOut, code := run(t, append([]string{"explain", "-o", `jsonpath={.items[?(@.owner.name=="train")]}`, "--server", server.URL}, args...)...)
		if code != 0 || out == "" {
			t.Fatalf("%q: exit %d, stderr %q", args, code, errOut)
		}
		return out
	}
	among := explain("-A")
	r.asked = nil
	if diff := cmp.Diff(among, explain("-n", "team-a")); diff != "" {
		t.Errorf("explained with -A and with -n (-all +one):\n%s", diff)
	}
	paths := r.paths()
	for _, path := range []string{"/apis/kueue.x-k8s.io/v1beta2/workloads", "/apis/batch/v1/namespaces/team-a/jobs"} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s was not read: %q", path, paths)
		}
	}
	for _, path := range []string{"/apis/batch/v1/jobs", "/api/v1/pods"} {
		if slices.Contains(paths, path) {
			t.Errorf("%s was read, though only Workloads of other namespaces decide", path)
		}
	}
}
