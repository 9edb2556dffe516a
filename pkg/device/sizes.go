package device

import (
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
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
// a driver take of a counter, in all counter sets or the first: see [LargestCounter]. It returns false when there is
// none, or all devices are of one size.
func (m *Match) Sizes(driver, counter string, allSets bool) (Sizes, bool) {
	key := sizesOf{driver, counter, allSets}
	known, ok := m.sizes[key]
	if !ok {
		if m.sizes == nil {
			m.sizes = map[sizesOf]knownSizes{}
		}
		known.Sizes, known.found = m.findSizes(key)
		m.sizes[key] = known
	}
	return known.Sizes, known.found
}

// sizesOf is what sizes are asked for, and knownSizes the answer: it takes a look at every device.
type sizesOf struct {
	driver, counter string
	allSets         bool
}

// sharedParts are the addresses of the attributes and counters of a device.
type sharedParts struct {
	attributes *cluster.Attribute
	counters   *resourcev1.DeviceCounterConsumption
}

type knownSizes struct {
	Sizes
	found bool
}

// fewValues is how many values an attribute may have in a first look for the one with the fewest.
const fewValues = 64

// findSizes looks for an attribute with few values first: those that each device has for itself take long to collect,
// and are not the answer where there is one with fewer.
func (m *Match) findSizes(of sizesOf) (Sizes, bool) {
	devices := 0
	for _, g := range m.order {
		if g.shape.driver == of.driver && m.results[g.shape].match {
			devices += int(g.devices)
		}
	}
	most := max(4, devices/2+1)
	sizes, found := m.sizesOfFew(of, min(fewValues, most))
	if !found && most > fewValues {
		return m.sizesOfFew(of, most)
	}
	return sizes, found
}

// sizesOfFew is findSizes among the attributes that have no more than a number of values.
func (m *Match) sizesOfFew(of sizesOf, most int) (Sizes, bool) {
	values := map[resourcev1.QualifiedName]map[string]resource.Quantity{}
	out := map[resourcev1.QualifiedName]bool{} // a value of several sizes, or too many values
	seen := map[sharedParts]bool{}
	for slice, d := range m.Devices() {
		if slice.Object.Spec.Driver != of.driver || seen[partsOf(d)] {
			continue
		}
		if len(seen) < maxShared {
			seen[partsOf(d)] = true
		}
		size := LargestCounter(d, of.counter, of.allSets)
		for _, attribute := range d.Attributes {
			name, a := attribute.Name, attribute.Value
			if a.StringValue == nil || out[name] {
				continue
			}
			if values[name] == nil {
				values[name] = map[string]resource.Quantity{}
			}
			known, ok := values[name][*a.StringValue]
			if ok && known.Cmp(size) != 0 || !ok && len(values[name]) == most {
				out[name] = true
				delete(values, name)
				continue
			}
			values[name][*a.StringValue] = size
		}
	}
	best := resourcev1.QualifiedName("")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n := len(values[name]); n >= 2 && (best == "" || n < len(values[best])) {
			best = name
		}
	}
	if best == "" {
		return Sizes{}, false
	}
	domain, id := Qualify(best, of.driver)
	return Sizes{domain, id, values[best]}, true
}

// maxShared is how many pairs of parts are remembered: where there are more, devices share little.
const maxShared = 4096

// partsOf are the parts of a device that devices of a fleet share where they are equal: each pair is looked at once.
func partsOf(d *cluster.Device) sharedParts {
	p := sharedParts{}
	if len(d.Attributes) > 0 {
		p.attributes = &d.Attributes[0]
	}
	if len(d.ConsumesCounters) > 0 {
		p.counters = &d.ConsumesCounters[0]
	}
	return p
}

// LargestCounter is what a device is charged of a counter; zero when it takes none. allSets looks at every counter set
// it takes from, and takes the most; otherwise only at the first that holds the counter.
func LargestCounter(d *cluster.Device, name string, allSets bool) resource.Quantity {
	var most resource.Quantity
	for _, set := range d.ConsumesCounters {
		c, ok := set.Counters[name]
		if !ok {
			continue
		}
		if c.Value.Cmp(most) > 0 {
			most = c.Value
		}
		if !allSets {
			break
		}
	}
	return most
}
