package e2e

import (
	"context"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// cleared are the kinds that scenarios make, those that hold others up first.
var cleared = []struct{ apiVersion, kind string }{
	{"batch/v1", "Job"}, {kueueAPI, "Workload"}, {"v1", "Pod"},
	{kueueAPI, "LocalQueue"}, {kueueAPI, "ClusterQueue"}, {kueueAPI, "Cohort"}, {kueueAPI, "ResourceFlavor"},
	{"resource.k8s.io/v1", "ResourceClaim"}, {"resource.k8s.io/v1", "ResourceClaimTemplate"},
	{"resource.k8s.io/v1", "ResourceSlice"}, {"resource.k8s.io/v1", "DeviceClass"},
	{kueueAPI, "WorkloadPriorityClass"}, {"v1", "Node"},
}

// clear removes what a scenario has made, and waits until it is gone.
func clear(t testing.TB, cp *controlplane.ControlPlane) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	for _, k := range cleared {
		if err := cp.DeleteAll(ctx, k.apiVersion, k.kind); err != nil {
			t.Fatal(err)
		}
	}
}
