package device

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// FuzzExpression holds that any selector, on devices grouped by what it can see, answers as it does on
// each device alone, and that none panics.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`device.attributes["d"].type == "mig"`,
		`device.attributes["memory"].quantity >= "80Gi"`,
		`device.capacity["d"].memory.compareTo(quantity("1Gi")) >= 0`,
		`cel.bind(g, device.attributes["d"], has(g.type) && g.type == "gpu")`,
		`device.attributes[device.driver].exists(k, k == "uuid")`,
		`[device].exists(d, d.attributes["d"].uuid == "u1")`,
		`{"a": device.attributes}["a"]["d"].uuid == "u2"`,
		`device.attributes["d"][?"x"].orValue(1) == 1`,
		`"type" in device.attributes["d"]`,
		`device.driver ==`,
		``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			t.Skip("long expressions only cost time")
		}
		var devices []resourcev1.Device
		for i := range 6 {
			devices = append(devices, dev(fmt.Sprint(i), attrs{
				"uuid": fmt.Sprintf("u%d", i), "type": []string{"mig", "gpu"}[i%2], "x": i % 3, "other/flag": i%2 == 0,
				"memory": *resource.NewQuantity(int64(i)<<30, resource.BinarySI),
			}))
		}
		inv := fleet(published("s", "d", "p", 1, 1, devices...))
		e := inv.Compile(text)
		if e.CompileError != "" {
			return
		}
		m := inv.Match([]*Expression{e})
		for i, g := range inv.Slices[0].groups {
			got, want := m.results[g.shape], alone(inv.Slices[0].Object.API(), i, e)
			if got.match != want.match || got.fails() != want.fails() {
				t.Errorf("%q on device %d: got %+v, alone %+v", text, i, got, want)
			}
		}
	})
}
