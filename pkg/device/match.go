package device

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Match is the answer of rows of selectors for every device: all expressions of all rows must be
// true, evaluated in order, the first error ends it.
type Match struct {
	inv     *Inventory
	order   []*group
	results map[*shape]matched
	sizes   map[sizesOf]knownSizes
}

type matched struct {
	match bool
	// row that failed, when errs is not empty: the errors of which Kueue meets any one.
	row  int
	errs []error
}

func (m matched) fails() bool { return len(m.errs) > 0 }

// Failure is a device on which a selector can't be evaluated.
type Failure struct {
	Device string
	Slice  *Slice
	// Row is the index of the row of selectors that failed.
	Row int
	Err error
}

// Match evaluates rows of selectors. Equal rows are answered once.
func (inv *Inventory) Match(rows ...[]*Expression) *Match {
	inv.ensure(rows...)
	var key strings.Builder
	for _, row := range rows {
		for _, e := range row {
			key.WriteString(e.Text)
			key.WriteByte(0)
		}
		key.WriteByte(1)
	}
	if m, ok := inv.matches[key.String()]; ok {
		return m
	}
	m := &Match{inv: inv, order: inv.grouped.order, results: map[*shape]matched{}}
	for _, g := range m.order {
		if _, ok := m.results[g.shape]; !ok {
			m.results[g.shape] = evaluate(g.shape, rows)
		}
	}
	inv.matches[key.String()] = m
	return m
}

func evaluate(s *shape, rows [][]*Expression) matched {
	for i, row := range rows {
		for _, e := range row {
			o := e.on(s)
			if len(o.errs) > 0 {
				return matched{row: i, errs: o.errs}
			}
			if !o.match {
				return matched{}
			}
		}
	}
	return matched{match: true}
}

// Usable counts the matching devices in complete pools of a driver.
func (m *Match) Usable(driver string) int64 {
	var n int64
	for g := range m.groups(driver) {
		n += g.usable
	}
	return n
}

// groups yields the groups of a driver that match and have devices in usable pools.
func (m *Match) groups(driver string) func(yield func(*group) bool) {
	return func(yield func(*group) bool) {
		for _, g := range m.order {
			if g.usable > 0 && g.shape.driver == driver && m.results[g.shape].match && !yield(g) {
				return
			}
		}
	}
}

// Failures lists, per slice of the usable pools of a driver, the first device on which the selectors
// fail, once for each error it may give: Kueue meets one of them, which one depends on the order of pools, slices and
// attributes.
func (m *Match) Failures(driver string) []Failure {
	failing := false
	for _, g := range m.order {
		failing = failing || g.usable > 0 && g.shape.driver == driver && m.results[g.shape].fails()
	}
	if !failing {
		return nil
	}
	var out []Failure
	for _, pool := range m.inv.Pools[driver] {
		if !pool.Complete() {
			continue
		}
		for _, s := range pool.Slices {
			for i, g := range s.groups {
				r := m.results[g.shape]
				for _, err := range r.errs {
					out = append(out, Failure{Device: s.Object.Spec.Devices[i].Name, Slice: s, Row: r.row, Err: err})
				}
				if r.fails() {
					break
				}
			}
		}
	}
	return out
}

// Example returns a matching device in a usable pool whose value is the one charged, for evidence.
type Example struct {
	Slice  *Slice
	Device int
}

// Largest is the largest consumption of a counter over matching devices.
type Largest struct {
	Value resource.Quantity
	Found bool
	// Distinct values seen, ascending: more than one makes the charge a worst case.
	Distinct []resource.Quantity
	group    *group
}

// MaxCounter returns the largest value of a counter over the matching devices in complete pools of a
// driver. allSets looks at every counter set of a device; otherwise only at the first that holds the counter.
func (m *Match) MaxCounter(driver, counter string, allSets bool) Largest {
	var l Largest
	for g := range m.groups(driver) {
		for i := range g.counters {
			c, ok := g.counters[i].Counters[counter]
			if !ok {
				continue
			}
			l.take(c.Value, g)
			if !allSets {
				break
			}
		}
	}
	return l
}

func (l *Largest) take(v resource.Quantity, g *group) {
	if !l.Found || v.Cmp(l.Value) > 0 {
		l.Value, l.Found, l.group = v.DeepCopy(), true, g
	}
	i, ok := slices.BinarySearchFunc(l.Distinct, v, func(a, b resource.Quantity) int { return a.Cmp(b) })
	if !ok {
		l.Distinct = slices.Insert(l.Distinct, i, v.DeepCopy())
	}
}

// Capacities yields the capacity of one dimension for every distinct kind of matching device in
// complete pools of a driver. has is false for devices without the dimension.
func (m *Match) Capacities(driver string,
	dimension resourcev1.QualifiedName) func(yield func(c resourcev1.DeviceCapacity, has bool) bool) {
	return func(yield func(resourcev1.DeviceCapacity, bool) bool) {
		for g := range m.groups(driver) {
			c, ok := g.shape.capacity[dimension]
			if !yield(c, ok) {
				return
			}
		}
	}
}

// Example finds the first device, by slice name, that holds the largest value.
func (m *Match) Example(l Largest) (Example, bool) {
	if l.group == nil {
		return Example{}, false
	}
	for _, s := range m.inv.Slices {
		if s.Pool == nil || !s.Pool.Complete() {
			continue
		}
		if i := slices.Index(s.groups, l.group); i >= 0 {
			return Example{s, i}, true
		}
	}
	return Example{}, false
}
