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
	// published are the counters, sorted by name; sets that are published alike share them.
	published []supply
	// used is what the allocated devices of the pool consume, in the order of published; nil while that is nothing.
	used []resource.Quantity
}

// supply is one counter of a set.
type supply struct {
	name  string
	total resource.Quantity
}

// Counter is the account of one counter.
type Counter struct {
	Name  string
	Total resource.Quantity
	// Used is what the allocated devices of the pool consume.
	Used resource.Quantity
}

// Counters yields the counters of the set, sorted by name.
func (set *CounterSet) Counters(yield func(Counter) bool) {
	for i := range set.published {
		if !yield(set.at(i)) {
			return
		}
	}
}

func (set *CounterSet) at(i int) Counter {
	c := Counter{Name: set.published[i].name, Total: set.published[i].total}
	if set.used != nil {
		c.Used = set.used[i]
	}
	return c
}

// Left is what is not used; negative when devices are allocated that can't be together.
func (c *Counter) Left() resource.Quantity {
	left := c.Total.DeepCopy()
	if !c.Used.IsZero() {
		left.Sub(c.Used)
	}
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

// counterReader reads counter sets. What slices share is read once.
type counterReader struct {
	known map[*resourcev1.CounterSet][]supply
}

// of reads the counter sets of a pool. The problem is what makes the scheduler take the pool for invalid.
func (r *counterReader) of(p *Pool) (sets []*CounterSet, byName map[string]*CounterSet, problem string) {
	byName = map[string]*CounterSet{}
	for _, s := range p.Slices {
		for i := range s.Object.Spec.SharedCounters {
			from := &s.Object.Spec.SharedCounters[i]
			if byName[from.Name] != nil {
				problem = fmt.Sprintf("counter set %s is published twice", from.Name)
				continue
			}
			set := &CounterSet{Name: from.Name, published: r.counters(from)}
			byName[from.Name] = set
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets, func(a, b *CounterSet) int { return strings.Compare(a.Name, b.Name) })
	return sets, byName, problem
}

func (r *counterReader) counters(from *resourcev1.CounterSet) []supply {
	if known, ok := r.known[from]; ok {
		return known
	}
	out := make([]supply, 0, len(from.Counters))
	for name, c := range from.Counters {
		out = append(out, supply{name, c.Value})
	}
	slices.SortFunc(out, func(a, b supply) int { return strings.Compare(a.name, b.name) })
	r.known[from] = out
	return out
}

// find returns the index of a counter; -1 when the set has none of that name.
func (set *CounterSet) find(name string) int {
	i, ok := slices.BinarySearchFunc(set.published, name,
		func(c supply, name string) int { return strings.Compare(c.name, name) })
	if !ok {
		return -1
	}
	return i
}

// consume takes what an allocated device consumes out of the sets of its pool.
func consume(byName map[string]*CounterSet, d *cluster.Device) {
	for _, of := range d.ConsumesCounters {
		set := byName[of.CounterSet]
		if set == nil {
			continue
		}
		for name, c := range of.Counters {
			i := set.find(name)
			if i < 0 {
				continue
			}
			if set.used == nil {
				set.used = make([]resource.Quantity, len(set.published))
			}
			set.used[i].Add(c.Value)
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
			i := set.find(name)
			if i < 0 {
				continue
			}
			account := set.at(i)
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
		for c := range set.Counters {
			if c.Used.Cmp(c.Total) > 0 {
				return Shortage{Set: set.Name, Counter: c.Name, Needed: c.Used, Left: c.Left()}, true
			}
		}
	}
	return Shortage{}, false
}

// Short is a counter of which too little is left for a device of the pool once others of the pool are allocated, too;
// nil when there is enough of all.
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
			i := set.find(name)
			if i < 0 {
				continue
			}
			account := set.at(i)
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
