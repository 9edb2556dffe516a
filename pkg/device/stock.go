package device

import (
	"cmp"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// State of a published device, as far as it matters to the scheduler. The first that holds counts.
type State uint8

const (
	// Free: it could be allocated, if nothing else were.
	Free State = iota
	// Allocated: a claim holds it alone.
	Allocated
	// Shared: claims hold parts of it, and there may be room for more.
	Shared
	// Unusable: its pool is incomplete or invalid.
	Unusable
	// Tainted: it has a taint that claims must tolerate.
	Tainted
	// Blocked: nobody holds it, but devices that are allocated use up counters that it needs.
	Blocked
)

// Count counts devices of one kind. Where it is not known what claims hold, only Published, Tainted and Unusable are
// told.
type Count struct {
	Kind
	Published int64
	// Tainted devices have a taint with effect NoSchedule or NoExecute, whether they are held or not.
	Tainted int64
	// Unusable devices are in pools from which the scheduler takes none.
	Unusable int64
	// Allocated devices are held by one claim, Shared ones by one or several that share them.
	Allocated, Shared int64
	// Blocked devices lack counters that allocated devices use.
	Blocked int64
	// Candidates are the devices each of which could be allocated if nothing else were.
	Candidates int64
	// Free is the largest number of devices that could be allocated together, if none of another kind were. It is less
	// than Candidates where they share counters.
	Free int64
	// AtLeast tells that Free may be larger: there were too many combinations to try.
	AtLeast bool
}

func (c *Count) add(o Count) {
	c.Published += o.Published
	c.Tainted += o.Tainted
	c.Unusable += o.Unusable
	c.Allocated += o.Allocated
	c.Shared += o.Shared
	c.Blocked += o.Blocked
	c.Candidates += o.Candidates
	c.Free += o.Free
	c.AtLeast = c.AtLeast || o.AtLeast
}

// Group are the devices of one kind that a pool has in one place.
type Group struct {
	Count
	Place Place
	// Devices in the order they are published.
	Devices []*Unit
	// Partitions tells that the devices consume counters.
	Partitions bool

	pool *PoolStock
}

// Pool that the devices are of.
func (g *Group) Pool() *PoolStock { return g.pool }

// PoolStock is one pool and its devices.
type PoolStock struct {
	*Pool
	// Problem is why the scheduler allocates nothing from the pool; empty when it does.
	Problem string
	// Groups by place and kind.
	Groups []*Group
	// CounterSets by name.
	CounterSets []*CounterSet
	// Overdrawn is the counter of which more is used than there is, if any.
	Overdrawn *Shortage

	units []Unit
	// byName are the indexes of the units, sorted by the names of the devices.
	byName []int32
}

// Held is a device that a claim holds.
type Held struct {
	ID
	Holders []Holder
}

// Stock is the inventory with what claims hold of it, as the scheduler sees it: only pools whose newest generation is
// complete and valid serve, and counters are used by the devices that are allocated.
type Stock struct {
	// Known tells that the claims of all namespaces are in the input. Else nothing is known to be free.
	Known bool
	// Pools by driver and name.
	Pools []*PoolStock
	// Gone are devices that claims hold and that are no longer published.
	Gone []Held

	// Assumptions are those of the inventory.
	Assumptions []string

	pools map[poolName]*PoolStock
	units map[*Slice][]Unit
	rules []*resourcev1.DeviceTaintRule

	counters counterReader
}

type poolName struct{ driver, pool string }

// NewStock puts inventory and allocations together.
func NewStock(inv *Inventory, held *Allocations) *Stock {
	s := &Stock{Known: held.Known, pools: map[poolName]*PoolStock{}, units: make(map[*Slice][]Unit, len(inv.Slices)),
		rules: inv.TaintRules, Assumptions: inv.Assumptions(),
		counters: counterReader{map[*resourcev1.CounterSet][]supply{}}}
	for _, pools := range inv.Pools {
		for _, p := range pools {
			stock := s.pool(p, held)
			s.Pools = append(s.Pools, stock)
			s.pools[poolName{p.Driver, p.Name}] = stock
		}
	}
	slices.SortFunc(s.Pools, func(a, b *PoolStock) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Name, b.Name))
	})
	packing := newPacker()
	for _, p := range s.Pools {
		p.count(packing, held.Known)
	}
	for id, holders := range held.Devices {
		if s.Unit(id) == nil {
			s.Gone = append(s.Gone, Held{id, holders})
		}
	}
	return s
}

// Unit returns a published device; nil when no pool has it.
func (s *Stock) Unit(id ID) *Unit {
	if p := s.pools[poolName{id.Driver, id.Pool}]; p != nil {
		return p.unit(id.Device)
	}
	return nil
}

// At returns a device of a slice of the inventory; nil when a newer generation of its pool has superseded the slice.
func (s *Stock) At(slice *Slice, i int) *Unit {
	if units := s.units[slice]; units != nil {
		return &units[i]
	}
	return nil
}

// Counts adds up the devices of each kind in all pools, by driver, model, type and profile.
func (s *Stock) Counts() []Count {
	byKind := map[Kind]*Count{}
	for _, p := range s.Pools {
		for _, g := range p.Groups {
			if byKind[g.Kind] == nil {
				byKind[g.Kind] = &Count{Kind: g.Kind}
			}
			byKind[g.Kind].add(g.Count)
		}
	}
	out := make([]Count, 0, len(byKind))
	for _, c := range byKind {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Count) int { return a.Kind.Compare(b.Kind) })
	return out
}

// RuleTaints are the taints that DeviceTaintRules put on a device, in the order of their names. A rule without selector
// selects nothing, one with an empty selector every device.
func (s *Stock) RuleTaints(id ID) []resourcev1.DeviceTaint {
	var out []resourcev1.DeviceTaint
	for _, rule := range s.rules {
		selector := rule.Spec.DeviceSelector
		if selector != nil && isOrAny(selector.Driver, id.Driver) && isOrAny(selector.Pool, id.Pool) &&
			isOrAny(selector.Device, id.Device) {
			out = append(out, rule.Spec.Taint)
		}
	}
	return out
}

func isOrAny(want *string, is string) bool { return want == nil || *want == is }

// pool reads the devices of one pool.
func (s *Stock) pool(p *Pool, held *Allocations) *PoolStock {
	out := &PoolStock{Pool: p}
	s.publish(out)
	sets, byName, problem := s.counters.of(p)
	out.CounterSets = sets
	groups, again := map[kindAtPlace]*Group{}, out.again()
	for i := range out.units {
		u := &out.units[i]
		s.hold(u, held)
		if i == again && problem == "" {
			problem = fmt.Sprintf("device %s is published twice", u.Device().Name)
		}
		if len(u.Holders()) > 0 {
			consume(byName, u.Device())
		}
		if unknown := unknownCounter(byName, u.Device()); unknown != "" && problem == "" {
			problem = unknown
		}
		out.group(groups, u)
	}
	if s, over := overdrawn(sets); over {
		out.Overdrawn = &s
	}
	switch {
	case p.Disagree:
		out.Problem = "its slices state different numbers of slices"
	case !p.Complete():
		out.Problem = fmt.Sprintf("incomplete: %d of %d slices are published", len(p.Slices), p.Expected)
	case problem != "":
		out.Problem = "invalid: " + problem
	}
	for _, g := range out.Groups {
		for _, u := range g.Devices {
			if short := shortages(byName, u.Device()); len(short) > 0 {
				u.extra().short = short
			}
			u.State = out.state(u)
		}
	}
	slices.SortStableFunc(out.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.Place.String(), b.Place.String()), a.Kind.Compare(b.Kind))
	})
	return out
}

// kindAtPlace is what the devices of a group have in common, within one pool.
type kindAtPlace struct {
	place string
	kind  Kind
}

// group adds a device to the devices of its kind and place.
func (p *PoolStock) group(groups map[kindAtPlace]*Group, u *Unit) {
	kind, place := kindOf(&u.Slice.Object.Spec, u.Device()), placeOf(&u.Slice.Object.Spec, u.Device())
	key := kindAtPlace{place.String(), kind}
	g := groups[key]
	if g == nil {
		g = &Group{Count: Count{Kind: kind}, Place: place, pool: p}
		groups[key] = g
		p.Groups = append(p.Groups, g)
	}
	u.group = g
	g.Devices = append(g.Devices, u)
	g.Partitions = g.Partitions || len(u.Device().ConsumesCounters) > 0
}

func unknownCounter(byName map[string]*CounterSet, d *cluster.Device) string {
	for _, of := range d.ConsumesCounters {
		set := byName[of.CounterSet]
		if set == nil {
			return fmt.Sprintf("device %s consumes counter set %s, which the pool does not have", d.Name, of.CounterSet)
		}
		for name := range of.Counters {
			if set.find(name) < 0 {
				return fmt.Sprintf("device %s consumes a counter that set %s does not have", d.Name, of.CounterSet)
			}
		}
	}
	return ""
}

func (p *PoolStock) state(u *Unit) State {
	switch {
	case len(u.Holders()) > 0 && u.Device().Shareable() && u.Holders()[0].Share != "":
		return Shared
	case len(u.Holders()) > 0:
		return Allocated
	case p.Problem != "":
		return Unusable
	case len(u.Taints()) > 0:
		return Tainted
	case len(u.Short()) > 0, p.Overdrawn != nil && len(u.Device().ConsumesCounters) > 0:
		return Blocked
	}
	return Free
}

// count counts the devices of every group.
func (p *PoolStock) count(packing *packer, known bool) {
	for _, g := range p.Groups {
		c := &g.Count
		var candidates []*Unit
		for _, u := range g.Devices {
			c.Published++
			if len(u.Taints()) > 0 {
				c.Tainted++
			}
			switch {
			case p.Problem != "":
				c.Unusable++
			case u.State == Free && known:
				candidates = append(candidates, u)
			}
			if !known {
				continue
			}
			switch u.State {
			case Allocated:
				c.Allocated++
			case Shared:
				c.Shared++
			case Blocked:
				c.Blocked++
			}
		}
		c.Candidates = int64(len(candidates))
		c.Free, c.AtLeast = packing.most(p, candidates)
	}
}
