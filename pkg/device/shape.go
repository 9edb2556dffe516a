package device

import (
	"reflect"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

// shape stands for all devices that the expressions in use can't tell apart.
type shape struct {
	driver     string
	attributes cluster.Attributes
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
	drivers  map[string]*driverParts
	shapes   map[shapeKey]*shape
	groups   map[groupKey]*group
	order    []*group
}

type shapeKey struct {
	driver               *driverParts
	attributes, capacity int
}

type groupKey struct {
	shape    *shape
	counters int
}

// driverParts numbers the visible content of the parts of one driver's devices.
type driverParts struct {
	name                           string
	seenAttributes, seenCapacity   lens
	attributes, capacity, counters numbering
}

// numbering gives equal content equal numbers. Equal parts are shared after decoding, so their
// content is looked at once per map, not once per device.
type numbering struct {
	byAddress map[uintptr]int
	byText    map[string]int
	text      []byte
}

func newGrouper(r reads, counters []string) *grouper {
	return &grouper{reads: r, counters: counters, drivers: map[string]*driverParts{}, shapes: map[shapeKey]*shape{},
		groups: map[groupKey]*group{}}
}

// group returns the group of a device.
func (g *grouper) group(driver string, d *cluster.Device) *group {
	parts := g.drivers[driver]
	if parts == nil {
		parts = &driverParts{name: driver, seenAttributes: newLens(g.reads.attributes, driver),
			seenCapacity: newLens(g.reads.capacity, driver)}
		g.drivers[driver] = parts
	}
	sk := shapeKey{
		driver: parts,
		attributes: parts.attributes.of(reflect.ValueOf(d.Attributes).Pointer(), func(text []byte) []byte {
			return attributesText(text, d.Attributes, parts.seenAttributes)
		}),
		capacity: parts.capacity.of(reflect.ValueOf(d.Capacity).Pointer(), func(text []byte) []byte {
			return capacityText(text, d.Capacity, parts.seenCapacity)
		}),
	}
	s := g.shapes[sk]
	if s == nil {
		s = &shape{driver: driver, attributes: d.Attributes, capacity: d.Capacity}
		g.shapes[sk] = s
	}
	gk := groupKey{s, parts.counters.of(reflect.ValueOf(d.ConsumesCounters).Pointer(), func(text []byte) []byte {
		return countersText(text, d.ConsumesCounters, g.counters)
	})}
	grp := g.groups[gk]
	if grp == nil {
		grp = &group{shape: s, counters: d.ConsumesCounters}
		g.groups[gk] = grp
		g.order = append(g.order, grp)
	}
	return grp
}

// of returns the number of a part's content; render writes it when the part was not met before.
func (n *numbering) of(address uintptr, render func([]byte) []byte) int {
	if address != 0 {
		if id, ok := n.byAddress[address]; ok {
			return id
		}
	}
	n.text = render(n.text[:0])
	id, ok := n.byText[string(n.text)]
	if n.byText == nil {
		n.byAddress, n.byText = map[uintptr]int{}, map[string]int{}
	}
	if !ok {
		id = len(n.byText) + 1
		n.byText[string(n.text)] = id
	}
	n.byAddress[address] = id
	return id
}

// attributesText renders the attributes that the expressions can see, and those that may break every expression.
func attributesText(text []byte, list cluster.Attributes, see lens) []byte {
	for i := range list {
		name, a := list[i].Name, list[i].Value
		if selector.Scalar(*a) && !see.sees(name) {
			continue
		}
		switch {
		case a.StringValue != nil:
			text = part(text, string(name), "s", *a.StringValue)
		case a.IntValue != nil:
			text = part(text, string(name), "i", strconv.FormatInt(*a.IntValue, 10))
		case a.BoolValue != nil:
			text = part(text, string(name), "b", strconv.FormatBool(*a.BoolValue))
		default:
			text = part(text, string(name), "o", a.String())
		}
	}
	return text
}

func capacityText(text []byte, m map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, see lens) []byte {
	visible(see, m, func(q resourcev1.QualifiedName, c resourcev1.DeviceCapacity) {
		policy := ""
		if c.RequestPolicy != nil {
			policy = c.RequestPolicy.String()
		}
		text = part(text, string(q), c.Value.String(), policy)
	})
	return text
}

func countersText(text []byte, consumed []resourcev1.DeviceCounterConsumption, charged []string) []byte {
	for i := range consumed {
		for _, counter := range charged {
			if c, ok := consumed[i].Counters[counter]; ok {
				text = part(text, counter, c.Value.String())
			}
		}
	}
	return text
}

// part appends a name and values so that different content can't give the same text.
func part(text []byte, pieces ...string) []byte {
	for _, p := range pieces {
		text = strconv.AppendInt(text, int64(len(p)), 10)
		text = append(text, ':')
		text = append(text, p...)
	}
	return text
}
