package device

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestSizesNameTheAttributeWithTheFewestValues: sizes have 2 devices each; what every device has for itself tells nothing.
func TestSizesNameTheAttributeWithTheFewestValues(t *testing.T) {
	for name, c := range map[string]struct {
		sizes int
		also  func(i int) string // a further attribute of device i
		want  string             // "-": none, and no device has a profile
	}{
		"two sizes":                                              {2, nil, "profile"},
		"as many as are looked at first":                         {fewValues, nil, "profile"},
		"more than are looked at first":                          {fewValues + 1, nil, "profile"},
		"every device has a name of its own, and no more":        {8, func(i int) string { return fmt.Sprint("n", i) }, "-"},
		"another attribute has fewer values, each of one size":   {3, func(i int) string { return fmt.Sprint("a", i/2) }, "also"},
		"another attribute has fewer values, of several sizes":   {3, func(i int) string { return fmt.Sprint("a", i/4) }, "profile"},
		"another attribute has many values, each of one size":    {fewValues + 1, func(i int) string { return fmt.Sprint(i) }, "profile"},
		"another attribute has several sizes in its last values": {fewValues + 1, func(i int) string { return fmt.Sprint(min(i, 2*fewValues-2)) }, "profile"},
	} {
		t.Run(name, func(t *testing.T) {
			s := published("s", "d", "p", 1, 1)
			for i := range 2 * c.sizes {
				a := attrs{"uuid": fmt.Sprint("u", i), "profile": fmt.Sprint("p", i/2)}
				if c.want == "-" {
					delete(a, "profile")
				}
				if c.also != nil {
					a["also"] = c.also(i)
				}
				d := dev(fmt.Sprint("gpu-", i), a)
				d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "c", Counters: map[string]resourcev1.Counter{
					"memory": {Value: *resource.NewQuantity(int64(i/2+1), resource.DecimalSI)}}}}
				s.Spec.Devices = append(s.Spec.Devices, d)
			}
			got, found := fleet(s).Match(nil).Sizes("d", "memory", true)
			if found != (c.want != "-") || found && got.ID != c.want {
				t.Fatalf("Sizes = %q, %v, want %q", got.ID, found, c.want)
			}
			if found && len(got.Of) != c.sizes {
				t.Errorf("%d values, want %d", len(got.Of), c.sizes)
			}
		})
	}
}
