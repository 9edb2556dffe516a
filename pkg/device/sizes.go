package device

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Sizes tells matching devices of different sizes apart: by an attribute of which every value belongs to one size.
type Sizes struct {
	// Domain and ID name the attribute, as selectors write it.
	Domain, ID string
	// Of holds the size of each value.
	Of map[string]resource.Quantity
}

// Selector is the CEL expression that is true for devices with a value of the attribute.
func (s Sizes) Selector(value string) string {
	return fmt.Sprintf("device.attributes[%q].%s == %q", s.Domain, s.ID, value)
}

// Sizes looks for the attribute, a string with as few values as possible, that tells apart how much matching devices of
// a driver take of a counter. It returns false when there is none, or all devices are of one size.
func (m *Match) Sizes(driver, counter string) (Sizes, bool) {
	key := sizesOf{driver, counter}
	known, ok := m.sizes[key]
	if !ok {
		if m.sizes == nil {
			m.sizes = map[sizesOf]knownSizes{}
		}
		known.Sizes, known.found = m.findSizes(driver, counter)
		m.sizes[key] = known
	}
	return known.Sizes, known.found
}

// sizesOf is what sizes are asked for, and knownSizes the answer: it takes a look at every device.
type sizesOf struct{ driver, counter string }

// sharedParts are the addresses of the attributes and counters of a device.
type sharedParts struct{ attributes, counters uintptr }

type knownSizes struct {
	Sizes
	found bool
}

func (m *Match) findSizes(driver, counter string) (Sizes, bool) {
	values := map[resourcev1.QualifiedName]map[string]resource.Quantity{}
	mixed := map[resourcev1.QualifiedName]bool{}
	devices, seen := 0, map[sharedParts]bool{}
	for slice, d := range m.Devices() {
		if slice.Object.Spec.Driver != driver {
			continue
		}
		devices++
		// Devices of a fleet share what is equal in them: each pair of parts is looked at once.
		parts := sharedParts{reflect.ValueOf(d.Attributes).Pointer(), reflect.ValueOf(d.ConsumesCounters).Pointer()}
		if seen[parts] {
			continue
		}
		seen[parts] = true
		size := LargestCounter(d, counter)
		for name, a := range d.Attributes {
			if a.StringValue == nil {
				continue
			}
			if values[name] == nil {
				values[name] = map[string]resource.Quantity{}
			}
			if known, ok := values[name][*a.StringValue]; ok && known.Cmp(size) != 0 {
				mixed[name] = true
			}
			values[name][*a.StringValue] = size
		}
	}
	best := resourcev1.QualifiedName("")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		n := len(values[name])
		if mixed[name] || n < 2 || n > 4 && n > devices/2+1 {
			continue // the last: a name that each device has for itself
		}
		if best == "" || n < len(values[best]) {
			best = name
		}
	}
	if best == "" {
		return Sizes{}, false
	}
	domain, id := Qualify(best, driver)
	return Sizes{domain, id, values[best]}, true
}

// LargestCounter is the most that a device takes of a counter, in whichever counter set; zero when it takes none.
func LargestCounter(d *resourcev1.Device, name string) resource.Quantity {
	var most resource.Quantity
	for _, set := range d.ConsumesCounters {
		if c, ok := set.Counters[name]; ok && c.Value.Cmp(most) > 0 {
			most = c.Value
		}
	}
	return most
}
