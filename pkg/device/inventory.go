package device

import (
	"iter"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

// Inventory is what the drivers of a cluster have published.
type Inventory struct {
	// Slices in order of their names. Kueue meets them in an arbitrary order.
	Slices []*Slice
	// Pools by driver, each sorted by name.
	Pools map[string][]*Pool
	// TaintRules of the cluster, by name. Kueue knows nothing of taints.
	TaintRules []*resourcev1.DeviceTaintRule
	// taintRulesKnown tells that TaintRules are all there are.
	taintRulesKnown bool

	library     selector.Library
	expressions map[string]*Expression
	counters    map[string]bool
	dimensions  map[resourcev1.QualifiedName]bool
	union       reads
	grouped     *grouper
	matches     map[string]*Match
}

// Slice is one ResourceSlice.
type Slice struct {
	Record *cluster.Object
	Object *cluster.DeviceSlice
	// Pool is the pool as Kueue sees it: slices of one driver with equal pool names.
	Pool   *Pool
	groups []*group // one per device
}

// Pool is the newest generation of a driver's pool of one name. Kueue does not tell pools of equal
// names on different nodes apart.
type Pool struct {
	Driver, Name string
	Generation   int64
	// Expected is the resourceSliceCount the slices state.
	Expected int64
	Slices   []*Slice
	// Disagree tells that the slices state different counts, so completeness depends on their order.
	Disagree bool
}

// Complete tells that all slices of the pool are published. Only then its devices are charged for.
func (p *Pool) Complete() bool { return int64(len(p.Slices)) == p.Expected }

// NewInventory reads the ResourceSlices of a snapshot. Selectors are read as the library does.
func NewInventory(snap *cluster.Snapshot, library selector.Library) *Inventory {
	inv := newInventory(library, func(yield func(*Slice) bool) {
		for o, rs := range cluster.All[*cluster.DeviceSlice](snap, cluster.ResourceSlice) {
			if !yield(&Slice{Record: o, Object: rs}) {
				return
			}
		}
	})
	for _, rule := range cluster.All[*resourcev1.DeviceTaintRule](snap, cluster.DeviceTaintRule) {
		inv.TaintRules = append(inv.TaintRules, rule)
	}
	inv.taintRulesKnown = snap.Coverage.Has(cluster.DeviceTaintRule)
	return inv
}

// Assumptions are sentences about what the input does not tell of devices, and what is taken for true instead.
func (inv *Inventory) Assumptions() []string {
	if inv.taintRulesKnown || len(inv.Slices) == 0 {
		return nil
	}
	return []string{"the input holds no DeviceTaintRule; devices are supposed to have the taints of their drivers only"}
}

func newInventory(library selector.Library, published iter.Seq[*Slice]) *Inventory {
	inv := &Inventory{
		library: library,
		Pools:   map[string][]*Pool{}, expressions: map[string]*Expression{},
		counters: map[string]bool{}, dimensions: map[resourcev1.QualifiedName]bool{}, matches: map[string]*Match{},
	}
	byName := map[[2]string]*Pool{}
	for s := range published {
		rs := s.Object
		inv.Slices = append(inv.Slices, s)
		key := [2]string{rs.Spec.Driver, rs.Spec.Pool.Name}
		p := byName[key]
		if p == nil {
			p = &Pool{Driver: rs.Spec.Driver, Name: rs.Spec.Pool.Name, Generation: rs.Spec.Pool.Generation - 1}
			byName[key] = p
			inv.Pools[p.Driver] = append(inv.Pools[p.Driver], p)
		}
		p.take(s)
	}
	for _, pools := range inv.Pools {
		slices.SortFunc(pools, func(a, b *Pool) int { return compareStrings(a.Name, b.Name) })
	}
	for _, p := range byName {
		for _, s := range p.Slices {
			s.Pool = p
		}
	}
	return inv
}

// take adds a slice to the pool: a newer generation supersedes what is there.
func (p *Pool) take(s *Slice) {
	pool := s.Object.Spec.Pool
	switch {
	case pool.Generation > p.Generation:
		*p = Pool{Driver: p.Driver, Name: p.Name, Generation: pool.Generation, Expected: pool.ResourceSliceCount,
			Slices: []*Slice{s}}
	case pool.Generation == p.Generation:
		p.Slices = append(p.Slices, s)
		p.Disagree = p.Disagree || pool.ResourceSliceCount != p.Expected
	}
}

// Devices counts the devices of all slices.
func (inv *Inventory) Devices() int {
	n := 0
	for _, s := range inv.Slices {
		n += len(s.Object.Spec.Devices)
	}
	return n
}

// Charge tells which counters and capacity dimensions are charged, so that devices that differ in
// them are kept apart. Call it before matching.
func (inv *Inventory) Charge(counters []string, dimensions []resourcev1.QualifiedName) {
	for _, c := range counters {
		inv.counters[c] = true
	}
	for _, d := range dimensions {
		inv.dimensions[d] = true
	}
	inv.reset()
}

// Compile returns the compiled expression; equal texts are compiled once.
func (inv *Inventory) Compile(text string) *Expression {
	e := inv.expressions[text]
	if e == nil {
		e = compileExpression(inv.library, text)
		inv.expressions[text] = e
	}
	return e
}

// Expect compiles the selectors that will be matched later, so that devices are grouped once, finely
// enough for all of them.
func (inv *Inventory) Expect(selectors []resourcev1.DeviceSelector) {
	for _, s := range selectors {
		if s.CEL != nil {
			inv.widen(inv.Compile(s.CEL.Expression))
		}
	}
}

// widen makes what an expression reads visible in the grouping.
func (inv *Inventory) widen(e *Expression) {
	if !inv.union.covers(e.reads) {
		inv.union.add(e.reads)
		inv.reset()
	}
}

func (inv *Inventory) reset() {
	inv.grouped = nil
	clear(inv.matches)
	for _, e := range inv.expressions {
		clear(e.results)
	}
}

// ensure groups the devices finely enough for the expressions.
func (inv *Inventory) ensure(rows ...[]*Expression) {
	for _, row := range rows {
		for _, e := range row {
			inv.widen(e)
		}
	}
	if inv.grouped == nil {
		inv.group()
	}
}

func (inv *Inventory) group() {
	r := inv.union.clone()
	for driver := range inv.Pools {
		for q := range inv.dimensions {
			r.capacity.name(qualify(q, driver))
		}
	}
	g := newGrouper(r, slices.Sorted(maps.Keys(inv.counters)))
	for _, s := range inv.Slices {
		driver := s.Object.Spec.Driver
		usable := s.Pool != nil && s.Pool.Complete()
		s.groups = make([]*group, len(s.Object.Spec.Devices))
		for i := range s.Object.Spec.Devices {
			grp := g.group(driver, &s.Object.Spec.Devices[i])
			grp.devices++
			if usable {
				grp.usable++
			}
			s.groups[i] = grp
		}
	}
	inv.grouped = g
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
