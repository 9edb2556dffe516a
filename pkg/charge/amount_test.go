package charge_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

func TestAbsurdQuantitiesSaturate(t *testing.T) {
	cases := map[string]struct {
		name corev1.ResourceName
		in   string
		want int64
	}{
		"cpu beyond milli units": {"cpu", "9223372036854775807", math.MaxInt64},
		"cpu far below":          {"cpu", "-9223372036854775807", math.MinInt64},
		"memory beyond int64":    {"memory", "100E", math.MaxInt64},
		"cpu in fractions":       {"cpu", "1500m", 1500},
		"a fraction is rounded":  {"slots", "1500m", 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := charge.Units(tc.name, resource.MustParse(tc.in)); got != tc.want {
				t.Errorf("Units(%s, %s) = %d, want %d", tc.name, tc.in, got, tc.want)
			}
		})
	}
}

func TestSumsAndDifferencesAreClamped(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	cases := map[string]struct{ got, want int64 }{
		"a sum":                            {charge.Add(2, 3), 5},
		"a sum above":                      {charge.Add(most, 1), most},
		"a sum below":                      {charge.Add(least, -1), least},
		"the ends meet":                    {charge.Add(most, least), -1},
		"a difference":                     {charge.Subtract(2, 3), -1},
		"a difference above":               {charge.Subtract(1, least), most},
		"a difference below":               {charge.Subtract(least, 1), least},
		"the least from a negative":        {charge.Subtract(-1, least), most},
		"the least from itself":            {charge.Subtract(least, least), 0},
		"the most from what is just below": {charge.Subtract(-1, most), least},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %d, want %d", tc.got, tc.want)
			}
		})
	}
}
