package report

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

func TestAmountsPrintAsKueuePrintsThem(t *testing.T) {
	units := Units{charge.Formatter{Binary: func(n corev1.ResourceName) bool { return n == "gpu.memory" || n == "slots" }}}
	cases := map[string]struct {
		name   corev1.ResourceName
		amount int64
		want   string
	}{
		"cpu in milli":                            {"cpu", 1500, "1500m"},
		"cpu in whole cores":                      {"cpu", 3000, "3"},
		"cpu beyond all machines":                 {"cpu", math.MaxInt64, "9223372036854775807m"},
		"memory in binary units":                  {"memory", 200 * mi, "200Mi"},
		"memory that is no multiple":              {"memory", 200*mi + 1, "209715201"},
		"huge pages":                              {"hugepages-2Mi", 4 * mi, "4Mi"},
		"local disk":                              {"ephemeral-storage", gi, "1Gi"},
		"a counter resource":                      {"gpu.memory", 3 * 4864 * mi, "14592Mi"},
		"a counter resource with a round value":   {"gpu.memory", 8 * 4864 * mi, "38Gi"},
		"a counter below 1024 falls back":         {"slots", 1000, "1k"},
		"a counter of nothing":                    {"slots", 0, "0"},
		"whole devices":                           {"nvidia.com/gpu", 8, "8"},
		"a thousand devices":                      {"nvidia.com/gpu", 1000, "1k"},
		"the output of a transformation is plain": {"mig.memory", 15 * gi, "16106127360"},
		"a negative charge is printed as it is":   {"whole-gpus", -2, "-2"},
		"a saturated count":                       {"whole-gpus", math.MaxInt64, "9223372036854775807"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := units.Format(tc.name, tc.amount); got != tc.want {
				t.Errorf("Format(%s, %d) = %q, want %q", tc.name, tc.amount, got, tc.want)
			}
		})
	}
}
