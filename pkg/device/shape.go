package device

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// shape stands for all devices that the expressions in use can't tell apart.
type shape struct {
	driver     string
	attributes map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
	capacity   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity
}

// group is a shape together with what is charged for its devices: they agree in the counters and
// capacities that the configuration charges too.
type group struct {
	shape *shape
	// counters holds a device's consumption of each charged counter: the set entries that hold it, in order.
	counters []resourcev1.DeviceCounterConsumption
	// devices in all slices, and in usable pools only.
	devices, usable int64
}

// grouper assigns devices to groups.
type grouper struct {
	reads    reads
	counters []string // charged counter names, sorted
	ids      partIDs
	shapes   map[shapeKey]*shape
	groups   map[groupKey]*group
	order    []*group
}

type shapeKey struct {
	driver               string
	attributes, capacity int
}

type groupKey struct {
	shape    *shape
	counters int
}

// partIDs number the visible content of device parts. Equal maps are shared after decoding, so
// their content is looked at once per map and driver, not once per device.
type partIDs struct {
	byMap  map[partKey]int
	byText map[string]int
}

type partKey struct {
	driver string
	ptr    uintptr
}

func newGrouper(r reads, counters []string) *grouper {
	return &grouper{
		reads: r, counters: counters,
		ids:    partIDs{byMap: map[partKey]int{}, byText: map[string]int{}},
		shapes: map[shapeKey]*shape{}, groups: map[groupKey]*group{},
	}
}

// group returns the group of a device.
func (g *grouper) group(driver string, d *resourcev1.Device) *group {
	sk := shapeKey{
		driver: driver,
		attributes: g.ids.of(driver, reflect.ValueOf(d.Attributes).Pointer(), func() string {
			return attributesText(d.Attributes, driver, g.reads.attributes)
		}),
		capacity: g.ids.of(driver, reflect.ValueOf(d.Capacity).Pointer(), func() string {
			return capacityText(d.Capacity, driver, g.reads.capacity)
		}),
	}
	s := g.shapes[sk]
	if s == nil {
		s = &shape{driver: driver, attributes: d.Attributes, capacity: d.Capacity}
		g.shapes[sk] = s
	}
	gk := groupKey{s, g.ids.of(driver, reflect.ValueOf(d.ConsumesCounters).Pointer(), func() string {
		return countersText(d.ConsumesCounters, g.counters)
	})}
	grp := g.groups[gk]
	if grp == nil {
		grp = &group{shape: s, counters: d.ConsumesCounters}
		g.groups[gk] = grp
		g.order = append(g.order, grp)
	}
	return grp
}

// of returns the number of a part's content; text renders it when the part was not met before.
func (p *partIDs) of(driver string, ptr uintptr, text func() string) int {
	key := partKey{driver, ptr}
	if id, ok := p.byMap[key]; ok && ptr != 0 {
		return id
	}
	t := text()
	id, ok := p.byText[t]
	if !ok {
		id = len(p.byText) + 1
		p.byText[t] = id
	}
	p.byMap[key] = id
	return id
}

func attributesText(m map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, driver string, see fields) string {
	var b strings.Builder
	b.WriteString("a")
	for _, q := range slices.Sorted(maps.Keys(m)) {
		a := m[q]
		kind, value, plain := attributeText(&a)
		// A malformed value breaks every expression, also those that do not look at it.
		if !plain || see.sees(q, driver) {
			part(&b, string(q), kind+value)
		}
	}
	return b.String()
}

// attributeText renders a value. plain is false for the kinds whose value may be malformed.
func attributeText(a *resourcev1.DeviceAttribute) (kind, value string, plain bool) {
	switch {
	case a.StringValue != nil:
		return "s", *a.StringValue, true
	case a.IntValue != nil:
		return "i", strconv.FormatInt(*a.IntValue, 10), true
	case a.BoolValue != nil:
		return "b", strconv.FormatBool(*a.BoolValue), true
	}
	return "o", a.String(), false
}

func capacityText(m map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, driver string, see fields) string {
	var b strings.Builder
	b.WriteString("c")
	for _, q := range slices.Sorted(maps.Keys(m)) {
		if see.sees(q, driver) {
			c := m[q]
			policy := ""
			if c.RequestPolicy != nil {
				policy = c.RequestPolicy.String()
			}
			part(&b, string(q), c.Value.String()+policy)
		}
	}
	return b.String()
}

func countersText(consumed []resourcev1.DeviceCounterConsumption, charged []string) string {
	var b strings.Builder
	b.WriteString("n")
	for i := range consumed {
		for _, counter := range charged {
			if c, ok := consumed[i].Counters[counter]; ok {
				part(&b, counter, c.Value.String())
			}
		}
	}
	return b.String()
}

// part writes a name and value so that different content can't give the same text.
func part(b *strings.Builder, name, value string) {
	b.WriteString(strconv.Quote(name))
	b.WriteString(strconv.Quote(value))
}
