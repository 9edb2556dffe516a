package device

import (
	"context"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

// An export without DeviceTaintRules says nothing of them; one with an empty list, or with one rule, does.
func TestWhatIsSupposedOfTaints(t *testing.T) {
	const slice = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d.example.com, nodeName: n, pool: {name: n, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}\n"
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"devices and no rule": {slice, 1},
		"no devices":          {"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", 0},
		"an empty list":       {slice + "---\napiVersion: resource.k8s.io/v1\nkind: DeviceTaintRuleList\nitems: []\n", 0},
		"a rule": {slice + "---\napiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\n" +
			"spec: {deviceSelector: {driver: d.example.com}, taint: {key: k, effect: NoSchedule}}\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			snap, err := cluster.FromBytes(context.Background(), "dump.yaml", []byte(c.text))
			if err != nil || len(snap.Problems) > 0 {
				t.Fatal(err, snap.Problems)
			}
			inv := NewInventory(snap, selector.Newest)
			if got := inv.Assumptions(); len(got) != c.want {
				t.Errorf("supposed: %q, want %d sentences", got, c.want)
			}
		})
	}
}
