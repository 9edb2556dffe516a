package charge_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

func TestFormat(t *testing.T) {
	f := charge.Formatter{Binary: func(name corev1.ResourceName) bool { return name == "gpu.memory" }}
	for _, tc := range []struct {
		name   corev1.ResourceName
		amount int64
		want   string
	}{
		{"cpu", 1500, "1500m"},
		{"cpu", 2000, "2"},
		{"nvidia.com/gpu", 2048, "2048"},
		{"nvidia.com/gpu", 3000, "3k"},
		{"gpu.memory", 0, "0"},
		{"gpu.memory", 1000, "1k"},
		{"gpu.memory", 1024, "1Ki"},
		{"gpu.memory", -2048, "-2Ki"},
		{"gpu.memory", 4864 << 20, "4864Mi"},
		{"gpu.memory", 42278584319, "42278584319"},
		{"gpu.memory", 42300000000, "42300M"}, // as a recorded quota of 42.3G
		{"gpu.memory", 64000, "64k"},
		{"memory", 3e9, "3G"},
		{"memory", 1536 << 20, "1536Mi"},
		{"hugepages-2Mi", 4 << 20, "4Mi"},
		{"gpu.memory", math.MaxInt64, "9223372036854775807"},
	} {
		if got := f.Format(tc.name, tc.amount); got != tc.want {
			t.Errorf("%s %d: %s, want %s", tc.name, tc.amount, got, tc.want)
		}
	}
}

// TestFormatReadsBack: what is printed is the amount, in the form that a quantity keeps when it is read and written.
func TestFormatReadsBack(t *testing.T) {
	f := charge.Formatter{}
	for _, amount := range []int64{1, 999, 1000, 1023, 1024, 1025, 65536, 1e6, 1 << 40, 1e12, 125 << 30, 42300000000, -3000, math.MaxInt64} {
		text := f.Format(corev1.ResourceMemory, amount)
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Value() != amount || q.String() != text {
			t.Errorf("%d is printed as %s, which is read as %s (%v)", amount, text, q.String(), err)
		}
	}
}
