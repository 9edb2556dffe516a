package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const liveDevices = `---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: a}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: team-b}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: x}}]}}
status: {allocation: {devices: {results: [{request: r, driver: d, pool: n1, device: gpu-0}]}}}
`

// listed are the lists that were asked for.
func (r *recorder) listed() []string {
	return slices.Compact(slices.DeleteFunc(r.paths(), func(p string) bool { return !isList(p) }))
}

func TestDevicesReadsSlicesAndClaimsOnly(t *testing.T) {
	const free = "jsonpath={.allocations} {.models[0].published} {.models[0].allocated} {.models[0].free}"
	for name, tc := range map[string]struct {
		args, lists []string
	}{
		"all": {nil, []string{"/apis/resource.k8s.io/v1/devicetaintrules", "/apis/resource.k8s.io/v1/resourceclaims", "/apis/resource.k8s.io/v1/resourceslices"}},
		"by labels of nodes": {[]string{"-l", "gpu=a"}, []string{"/api/v1/nodes", "/apis/resource.k8s.io/v1/devicetaintrules", "/apis/resource.k8s.io/v1/resourceclaims",
			"/apis/resource.k8s.io/v1/resourceslices"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{Handler: apiHandler(t, strings.TrimPrefix(liveDevices, "---\n"))}
			out, errOut, code := run(t, append([]string{"devices", "-n", "team-a", "--server", serve(t, r).URL, "-o", free}, tc.args...)...)
			if want := "Known 2 1 1"; out != want || code != 0 || errOut != "" {
				t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
			}
			if diff := cmp.Diff(tc.lists, r.listed()); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("by those who may not see all claims", func(t *testing.T) {
		server := apiServer(t, strings.TrimPrefix(liveDevices, "---\n"), "/apis/resource.k8s.io/v1/resourceclaims")
		args := []string{"devices", "-n", "team-a", "--server", server.URL, "-o", free}
		out, errOut, code := run(t, args...)
		if want := "Unknown 2 null null"; out != want || code != 0 || !strings.Contains(errOut, "ResourceClaim.resource.k8s.io") {
			t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
		}
		if _, errOut, code := run(t, append(args, "--strict")...); code != ExitIncomplete {
			t.Errorf("--strict ends with %d (%s), want %d", code, errOut, ExitIncomplete)
		}
	})
}

func TestFitReadsNodesPodsAndTheClaimsOfAllNamespaces(t *testing.T) {
	r := &recorder{Handler: apiHandler(t, testdata(t, "cluster.yaml")+liveDevices)}
	out, errOut, code := run(t, "explain", "job/train", "-n", "team-a", "--fit", "--server", serve(t, r).URL, "-o", "jsonpath={.items[0].fit.verdict}")
	if out == "" || out == "Unknown" || code != 0 || errOut != "" {
		t.Errorf("got %q (exit %d, stderr %q)", out, code, errOut)
	}
	for _, path := range []string{"/api/v1/nodes", "/api/v1/namespaces/team-a/pods", "/apis/resource.k8s.io/v1/resourceclaims"} {
		if !slices.Contains(r.listed(), path) {
			t.Errorf("%s was not listed: %q", path, r.listed())
		}
	}
	for _, path := range r.paths() {
		if strings.HasSuffix(path, "/replicasets") || strings.HasSuffix(path, "/topologies") {
			t.Errorf("%s was read", path)
		}
	}
}
