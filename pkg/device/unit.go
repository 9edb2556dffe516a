package device

import (
	"cmp"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Unit is one published device and what is known of it. Fleets have many, so what can be looked up is not repeated in
// it.
type Unit struct {
	Slice *Slice
	group *Group
	// more is what few devices have; nil for the others.
	more *more
	// index of the device in its slice.
	index int32
	State State
}

// more is what is known of devices that are held, tainted or short of counters.
type more struct {
	holders []Holder
	taints  []resourcev1.DeviceTaint
	short   []Shortage
}

var nothingMore more

func (u *Unit) others() *more {
	if u.more == nil {
		return &nothingMore
	}
	return u.more
}

// extra is where to note what few devices have.
func (u *Unit) extra() *more {
	if u.more == nil {
		u.more = &more{}
	}
	return u.more
}

// ID of the device.
func (u *Unit) ID() ID {
	spec := &u.Slice.Object.Spec
	return ID{spec.Driver, spec.Pool.Name, u.Device().Name}
}

// Device as it is published.
func (u *Unit) Device() *cluster.Device { return &u.Slice.Object.Spec.Devices[u.index] }

// Index of the device in its slice.
func (u *Unit) Index() int { return int(u.index) }

// Group of the devices of the same kind and place.
func (u *Unit) Group() *Group { return u.group }

// Holders are the claims that hold the device.
func (u *Unit) Holders() []Holder { return u.others().holders }

// Taints that keep claims away that do not tolerate them: the driver's and those of DeviceTaintRules.
func (u *Unit) Taints() []resourcev1.DeviceTaint { return u.others().taints }

// Short are the counters of which too little is left, whatever the state.
func (u *Unit) Short() []Shortage { return u.others().short }

// publish makes the units of a pool, in the order they are published.
func (s *Stock) publish(p *PoolStock) {
	devices := 0
	for _, slice := range p.Slices {
		devices += len(slice.Object.Spec.Devices)
	}
	p.units = make([]Unit, devices)
	p.byName = make([]int32, devices)
	at := 0
	for _, slice := range p.Slices {
		units := p.units[at : at+len(slice.Object.Spec.Devices)]
		s.units[slice] = units
		for i := range units {
			units[i] = Unit{Slice: slice, index: int32(i)}
			p.byName[at] = int32(at)
			at++
		}
	}
	slices.SortFunc(p.byName,
		func(a, b int32) int { return cmp.Or(cmp.Compare(p.nameOf(a), p.nameOf(b)), cmp.Compare(a, b)) })
}

func (p *PoolStock) nameOf(i int32) string { return p.units[i].Device().Name }

// unit is the device of a name; the last one where it is published several times.
func (p *PoolStock) unit(name string) *Unit {
	behind, _ := slices.BinarySearchFunc(p.byName, name, func(i int32, name string) int {
		if p.nameOf(i) <= name {
			return -1
		}
		return 1
	})
	if behind == 0 || p.nameOf(p.byName[behind-1]) != name {
		return nil
	}
	return &p.units[p.byName[behind-1]]
}

// again is the index of the first device with the name of one before it; -1 when all names differ.
func (p *PoolStock) again() int {
	first := int32(-1)
	for i := 1; i < len(p.byName); i++ {
		if at := p.byName[i]; p.nameOf(at) == p.nameOf(p.byName[i-1]) && (first < 0 || at < first) {
			first = at
		}
	}
	return int(first)
}

// hold notes who holds a device and its taints.
func (s *Stock) hold(u *Unit, held *Allocations) {
	id := u.ID()
	if holders := held.Holders(id); len(holders) > 0 {
		u.extra().holders = holders
	}
	for _, taints := range [][]resourcev1.DeviceTaint{u.Device().Taints(), s.RuleTaints(id)} {
		for _, t := range taints {
			if t.Effect == resourcev1.DeviceTaintEffectNoSchedule || t.Effect == resourcev1.DeviceTaintEffectNoExecute {
				u.extra().taints = append(u.extra().taints, t)
			}
		}
	}
}
