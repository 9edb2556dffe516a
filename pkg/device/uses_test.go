package device_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

func TestUsesOfASelector(t *testing.T) {
	for text, want := range map[string][]device.Use{
		`device.driver == "gpu.example.com"`: {{Map: "driver", Operator: "==", Literal: "gpu.example.com", Type: "string"}},
		`device.attributes["memory"].quantity >= "80Gi"`: {
			{Map: "attributes", Domain: "memory", ID: "quantity", Operator: ">=", Literal: "80Gi", Type: "string"}},
		`device.attributes["gpu.example.com"].model.string == "A100"`: {
			{Map: "attributes", Domain: "gpu.example.com", ID: "model", After: []string{"string"}, Operator: "==", Literal: "A100", Type: "string"}},
		`device.attributes["model"] == "A100"`: {{Map: "attributes", Domain: "model", Operator: "==", Literal: "A100", Type: "string"}},
		`device.capacity["d.e"].memory.compareTo(quantity("80Gi")) >= 0`: {
			{Map: "capacity", Domain: "d.e", ID: "memory", Method: "compareTo", Literal: "80Gi", Type: "quantity"}},
		`device.capacity["d.e"].memory >= quantity("80Gi") || 3 > device.attributes["d.e"].n`: {
			{Map: "capacity", Domain: "d.e", ID: "memory", Operator: ">=", Literal: "80Gi", Type: "quantity"},
			{Map: "attributes", Domain: "d.e", ID: "n", Operator: ">", Type: "number"}},
		`has(device.attributes["d.e"].x) && "y" in device.attributes["d.e"]`: {
			{Map: "attributes", Domain: "d.e", ID: "x", Tested: true}, {Map: "attributes", Domain: "d.e", Tested: true}},
		`device.attributes["d.e"].?x.orValue("") == "a"`: {{Map: "attributes", Domain: "d.e", ID: "x", Method: "orValue", Literal: "", Type: "string"}},
		`device.attributes.memory.quantity > "1"`:        {{Map: "attributes", Domain: "memory", ID: "quantity", Operator: ">", Literal: "1", Type: "string"}},
		`device.`: nil,
		`true`:    nil,
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, device.Uses(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompileForNewObjects(t *testing.T) {
	for text, wantDetail := range map[string]bool{
		`device.driver == "x"`:                              false,
		`device.capacity["d.e"].memory >= quantity("80Gi")`: true,
		`device.attributes["memory"].quantity >= "80Gi"`:    false,
		``: true,
	} {
		if detail, _ := device.CompileNew(text); (detail != "") != wantDetail {
			t.Errorf("%s: %q", text, detail)
		}
	}
}
