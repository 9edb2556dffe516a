package charge_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// A job admitted with fewer pods holds quota for those, while the charge stays that of all its pods.
func TestPartialAdmission(t *testing.T) {
	snap := load(t, corpus+"/partial-admission/dump.yaml", "", func(*kueue.Workload) {})
	cfg, err := config.Resolve(snap, config.Options{Version: "v0.19.2"})
	if err != nil {
		t.Fatal(err)
	}
	all := charge.NewEngine(snap, cfg, device.NewInventory(snap, selector.Of(cfg.Behavior))).Charges(workload.Find(snap, cfg, workload.Options{}))
	i := slices.IndexFunc(all, func(c *charge.Charge) bool { return c.Workload.OwnerRef.Name == "b-shrinks" })
	if i < 0 {
		t.Fatal("no job b-shrinks")
	}
	c := all[i]
	if diff := cmp.Diff(charge.Amounts{"cpu": 9000, "nvidia.com/gpu": 9}, c.Total); diff != "" {
		t.Errorf("charge (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(charge.Amounts{"cpu": 5000, "nvidia.com/gpu": 5}, c.Admitted()); diff != "" {
		t.Errorf("admitted (-want +got)\n%s", diff)
	}
	if want := "pod set main was admitted with 5 of 9 pods and holds quota for those (partial admission)"; !slices.Contains(c.Notes, want) {
		t.Errorf("notes %q", c.Notes)
	}
}
