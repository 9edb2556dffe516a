package e2e

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// atMost is how much longer than a plain `kubectl get` of the same objects, which prints six columns that the API
// server has made, their explanation may take.
const atMost = 3.0

// BenchmarkFleet explains 10,000 Workloads on a fleet of 1,000 ResourceSlices, side by side with kubectl, which
// only fetches and prints the same objects.
func BenchmarkFleet(b *testing.B) {
	const nodes, workloads = 112, 10_000 // nine slices a node
	cp := aFleet(b, nodes, workloads)
	admin := cp.Kubeconfig(controlplane.Admin)
	mean := map[string]time.Duration{}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"kubectl-get", []string{"get", "workloads.kueue.x-k8s.io,resourceslices", "-A"}},
		{"kubectl-get-json", []string{"get", "workloads.kueue.x-k8s.io,resourceslices", "-A", "-o", "json"}},
		{"charge", []string{"gpu-quota", "charge", "-A"}},
		{"explain", []string{"gpu-quota", "explain", "-A"}},
		{"explain-json", []string{"gpu-quota", "explain", "-A", "-o", "json"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				cmd := command(b.Context(), b.TempDir(), admin, c.args...)
				var stderr strings.Builder
				cmd.Stdout, cmd.Stderr = io.Discard, &stderr
				if err := cmd.Run(); err != nil {
					b.Fatalf("%s: %v\n%s", cmd, err, &stderr)
				}
			}
			mean[c.name] = b.Elapsed() / time.Duration(b.N)
		})
	}
	get := mean["kubectl-get"]
	if get == 0 {
		return // not all of it was asked for
	}
	for _, name := range []string{"charge", "explain", "explain-json"} {
		ratio := float64(mean[name]) / float64(get)
		b.Logf("%s takes %.2f times as long as kubectl get, %.2f times as long as kubectl get -o json", name, ratio, float64(mean[name])/float64(mean["kubectl-get-json"]))
		if ratio > atMost {
			b.Errorf("%s takes %s, more than %g times the %s of kubectl get", name, mean[name], atMost, get)
		}
	}
}
