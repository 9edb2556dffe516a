package device

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// CounterSet is the account of one counter set of a pool.
type CounterSet struct {
	Name string
	// Counters sorted by name.
	Counters []Counter
}

// Counter is the account of one counter.
type Counter struct {
	Name  string
	Total resource.Quantity
	// Used is what the allocated devices of the pool consume.
	Used resource.Quantity
}

// Left is what is not used; negative when devices are allocated that can't be together.
func (c *Counter) Left() resource.Quantity {
	left := c.Total.DeepCopy()
	left.Sub(c.Used)
	return left
}

// Shortage is a counter of which too little is left for a device.
type Shortage struct {
	Set, Counter string
	// Needed by the device; Left now.
	Needed, Left resource.Quantity
}

// String is like `gpu-0-counter-set: memory-slice-0 needs 1, 0 left`.
func (s Shortage) String() string {
	return fmt.Sprintf("%s: %s needs %s, %s left", s.Set, s.Counter, s.Needed.String(), s.Left.String())
}

// counterSets reads the counter sets of a pool. The problem is what makes the scheduler take the pool for invalid.
func counterSets(p *Pool) (sets []*CounterSet, byName map[string]*CounterSet, problem string) {
	byName = map[string]*CounterSet{}
	for _, s := range p.Slices {
		for i := range s.Object.Spec.SharedCounters {
			from := &s.Object.Spec.SharedCounters[i]
			if byName[from.Name] != nil {
				problem = fmt.Sprintf("counter set %s is published twice", from.Name)
				continue
			}
			set := newCounterSet(from)
			byName[from.Name] = set
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets, func(a, b *CounterSet) int { return strings.Compare(a.Name, b.Name) })
	return sets, byName, problem
}

func newCounterSet(from *resourcev1.CounterSet) *CounterSet {
	set := &CounterSet{Name: from.Name, Counters: make([]Counter, 0, len(from.Counters))}
	for name, c := range from.Counters {
		set.Counters = append(set.Counters, Counter{Name: name, Total: c.Value})
	}
	slices.SortFunc(set.Counters, func(a, b Counter) int { return strings.Compare(a.Name, b.Name) })
	return set
}

// counter returns the account of a counter; nil when the set has none of that name.
func (set *CounterSet) counter(name string) *Counter {
	i, ok := slices.BinarySearchFunc(set.Counters, name, func(c Counter, name string) int { return strings.Compare(c.Name, name) })
	if ok {
		return &set.Counters[i]
	}
	return nil
}

// consume takes what an allocated device consumes out of the sets of its pool.
func consume(byName map[string]*CounterSet, d *cluster.Device) {
	for _, of := range d.ConsumesCounters {
		set := byName[of.CounterSet]
		if set == nil {
			continue
		}
		for name, c := range of.Counters {
			if account := set.counter(name); account != nil {
				account.Used.Add(c.Value)
			}
		}
	}
}

// shortages are the counters of which too little is left for a device, sorted by set and name.
func shortages(byName map[string]*CounterSet, d *cluster.Device) []Shortage {
	var out []Shortage
	for _, of := range d.ConsumesCounters {
		set := byName[of.CounterSet]
		if set == nil {
			continue
		}
		for name, c := range of.Counters {
			account := set.counter(name)
			if account == nil {
				continue
			}
			if left := account.Left(); left.Cmp(c.Value) < 0 {
				out = append(out, Shortage{Set: set.Name, Counter: name, Needed: c.Value.DeepCopy(), Left: left})
			}
		}
	}
	slices.SortFunc(out, func(a, b Shortage) int {
		if c := strings.Compare(a.Set, b.Set); c != 0 {
			return c
		}
		return strings.Compare(a.Counter, b.Counter)
	})
	return out
}

// overdrawn is a counter of which more is used than there is. The scheduler then allocates no device of the pool that
// consumes any counter.
func overdrawn(sets []*CounterSet) (Shortage, bool) {
	for _, set := range sets {
		for i := range set.Counters {
			if c := &set.Counters[i]; c.Used.Cmp(c.Total) > 0 {
				return Shortage{Set: set.Name, Counter: c.Name, Needed: c.Used, Left: c.Left()}, true
			}
		}
	}
	return Shortage{}, false
}

// Short is a counter of which too little is left for a device of the pool once others of the pool are allocated, too; nil
// when there is enough of all.
func (p *PoolStock) Short(u *Unit, also []*Unit) *Shortage {
	if p.Overdrawn != nil {
		return p.Overdrawn
	}
	for _, of := range u.Device().ConsumesCounters {
		set := p.set(of.CounterSet)
		if set == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(of.Counters)) {
			account := set.counter(name)
			if account == nil {
				continue
			}
			left, needed := account.Left(), of.Counters[name].Value
			for _, other := range also {
				left.Sub(consumption(other.Device(), set.Name, name))
			}
			if left.Cmp(needed) < 0 {
				return &Shortage{Set: set.Name, Counter: name, Needed: needed.DeepCopy(), Left: left}
			}
		}
	}
	return nil
}

func (p *PoolStock) set(name string) *CounterSet {
	for _, set := range p.CounterSets {
		if set.Name == name {
			return set
		}
	}
	return nil
}

// consumption is what a device takes of a counter.
func consumption(d *cluster.Device, set, counter string) resource.Quantity {
	var out resource.Quantity
	for _, of := range d.ConsumesCounters {
		if c, ok := of.Counters[counter]; ok && of.CounterSet == set {
			out.Add(c.Value)
		}
	}
	return out
}
