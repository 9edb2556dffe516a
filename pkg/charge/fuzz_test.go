package charge_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// FuzzCharge holds that no input makes the engine panic, in old and new versions, and that a charge is
// the same when computed again.
func FuzzCharge(f *testing.F) {
	for _, r := range rules {
		f.Add([]byte(r.cluster()))
	}
	for _, name := range []string{"kind-pod-group-shapes", "er-fractional", "counter-odd-values", "transform-classic", "podsets-claims"} {
		data, err := os.ReadFile(filepath.Join(corpus, name, "scenario.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		snap, err := cluster.FromBytes(context.Background(), "fuzz.yaml", data)
		if err != nil {
			t.Skip("the reader gave up")
		}
		for _, version := range []string{"v0.17.0", "v0.18.0", "v0.19.0", "v0.19.2", "main"} {
			cfg, err := config.Resolve(snap, config.Options{Version: version})
			if err != nil {
				continue
			}
			engine := charge.NewEngine(snap, cfg, device.NewInventory(snap, selector.Of(cfg.Behavior)))
			ws := workload.Find(snap, cfg, workload.Options{})
			first := engine.Charges(ws)
			for i, again := range engine.Charges(ws) {
				if again.Verdict != first[i].Verdict || len(again.Problems) != len(first[i].Problems) {
					t.Errorf("%s: charged differently the second time", ws[i].Name)
				}
			}
		}
	})
}
