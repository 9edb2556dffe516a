package charge_test

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// The last step of a derivation says over how many devices the largest value was taken, one or several.
func TestSourceDerivations(t *testing.T) {
	const capacity = "{name: gpu.memory, deviceClassNames: [gpu.example.com], sources: [{capacity: {name: memory, driver: gpu.example.com, deviceSelector: {cel: {expression: 'true'}}}}]}"
	holding := func(name, memory string) string {
		return "{name: " + name + ", allowMultipleAllocations: true, capacity: {memory: {value: " + memory + "}}}"
	}
	cases := map[string]struct {
		mapping string
		devices []string
		want    string
	}{
		"a counter of one device": {
			counterMapping("gpu.memory", "memory", "gpu.example.com"), []string{memoryDevice("a", "4Gi")},
			`counter "memory" of gpu.example.com: max 4Gi over 1 matching device × 1`,
		},
		"a counter of unlike devices": {
			counterMapping("gpu.memory", "memory", "gpu.example.com"), []string{memoryDevice("a", "4Gi"), memoryDevice("b", "8Gi")},
			`counter "memory" of gpu.example.com: max 8Gi over 2 matching devices (from 4Gi) × 1`,
		},
		"a capacity of one device": {
			capacity, []string{holding("a", "4Gi")},
			`capacity "memory" of gpu.example.com: the whole capacity, max 4Gi over 1 matching device × 1`,
		},
		"a capacity of two devices": {
			capacity, []string{holding("a", "4Gi"), holding("b", "8Gi")},
			`capacity "memory" of gpu.example.com: the whole capacity, max 8Gi over 2 matching devices × 1`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := rule{
				mapping: tc.mapping, pod: claims("t"), gates: map[string]bool{release.KueueDRAIntegrationConsumableCapacity: true},
				objects: []string{
					class("gpu.example.com", ""), template("t", "{name: r, exactly: {deviceClassName: gpu.example.com}}"),
					slice("s", "gpu.example.com", 1, 1, tc.devices...),
				},
			}
			c := r.charge(t)
			if len(c.PodSets) != 1 || len(c.PodSets[0].Lines) != 1 {
				t.Fatalf("%s: %+v", c.Verdict, c.Problems)
			}
			steps := c.PodSets[0].Lines[0].Derivation
			if got := steps[len(steps)-1]; got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
