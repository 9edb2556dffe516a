package device

import (
	"math"
	"slices"
	"strconv"
)

// packer finds how many of some devices can be allocated together, given what is left of the counters they share.
// Fleets have the same GPU many times, so that equal questions are answered once.
type packer struct{ known map[string]packed }

type packed struct {
	most    int64
	atLeast bool
}

func newPacker() *packer { return &packer{known: map[string]packed{}} }

// maxPackingSteps bounds the search in one counter set; beyond, the best found so far is a lower bound.
const maxPackingSteps = 20_000

// most counts the devices that can be allocated together. Devices without counters do not get in each other's way;
// those with counters do among the ones whose counter sets hang together.
func (p *packer) most(pool *PoolStock, units []*Unit) (most int64, atLeast bool) {
	var sharing []*Unit
	for _, u := range units {
		if len(u.Device().ConsumesCounters) == 0 {
			most++
		} else {
			sharing = append(sharing, u)
		}
	}
	for _, part := range connected(sharing) {
		b := newBin(pool, part)
		key := b.key()
		answer, ok := p.known[key]
		if !ok {
			answer = b.pack()
			p.known[key] = answer
		}
		most += answer.most
		atLeast = atLeast || answer.atLeast
	}
	return most, atLeast
}

// connected splits devices into parts that have no counter set in common.
func connected(units []*Unit) [][]*Unit {
	parent := map[string]string{}
	var root func(string) string
	root = func(set string) string {
		if p, ok := parent[set]; ok && p != set {
			return root(p)
		}
		return set
	}
	for _, u := range units {
		first := root(u.Device().ConsumesCounters[0].CounterSet)
		for _, of := range u.Device().ConsumesCounters[1:] {
			parent[root(of.CounterSet)] = first
		}
	}
	index := map[string]int{}
	var parts [][]*Unit
	for _, u := range units {
		r := root(u.Device().ConsumesCounters[0].CounterSet)
		i, ok := index[r]
		if !ok {
			i = len(parts)
			index[r] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], u)
	}
	return parts
}

// bin holds what is left of each counter, and what each device takes of it, in the same order.
type bin struct {
	left  []int64
	takes [][]int64
	steps int
	best  int64
}

func newBin(pool *PoolStock, units []*Unit) *bin {
	type counter struct{ set, name string }
	index := map[counter]int{}
	b := &bin{}
	for _, set := range pool.CounterSets {
		if !slices.ContainsFunc(units, func(u *Unit) bool { return consumes(u, set.Name) }) {
			continue
		}
		for c := range set.Counters {
			index[counter{set.Name, c.Name}] = len(b.left)
			left := c.Left()
			b.left = append(b.left, left.MilliValue())
		}
	}
	for _, u := range units {
		takes := make([]int64, len(b.left))
		for _, of := range u.Device().ConsumesCounters {
			for name, c := range of.Counters {
				if i, ok := index[counter{of.CounterSet, name}]; ok {
					takes[i] += c.Value.MilliValue()
				}
			}
		}
		b.takes = append(b.takes, takes)
	}
	return b
}

func consumes(u *Unit, set string) bool {
	for _, of := range u.Device().ConsumesCounters {
		if of.CounterSet == set {
			return true
		}
	}
	return false
}

func (b *bin) key() string {
	var text []byte
	for _, row := range append([][]int64{b.left}, b.takes...) {
		for _, v := range row {
			text = append(strconv.AppendInt(text, v, 36), ' ')
		}
		text = append(text, '\n')
	}
	return string(text)
}

// pack finds the largest number of devices by trying to take and to leave each.
func (b *bin) pack() packed {
	limit := b.limit()
	var search func(i int, n int64)
	search = func(i int, n int64) {
		b.best = max(b.best, n)
		if b.steps++; b.steps > maxPackingSteps || b.best >= limit || i == len(b.takes) || n+
			int64(len(b.takes)-i) <= b.best {
			return
		}
		if b.take(i, -1) {
			search(i+1, n+1)
			b.take(i, +1)
		}
		search(i+1, n)
	}
	search(0, 0)
	return packed{b.best, b.steps > maxPackingSteps && b.best < limit}
}

// take takes (sign -1) or gives back (+1) what a device consumes; false, and nothing taken, when too little is left.
func (b *bin) take(i int, sign int64) bool {
	for j, v := range b.takes[i] {
		if sign < 0 && b.left[j] < v {
			return false
		}
	}
	for j, v := range b.takes[i] {
		b.left[j] += sign * v
	}
	return true
}

// limit is a number that can't be exceeded: of every counter there must be enough for as many as the least that any
// device takes.
func (b *bin) limit() int64 {
	limit := int64(len(b.takes))
	for j, left := range b.left {
		least := int64(math.MaxInt64)
		for _, takes := range b.takes {
			least = min(least, takes[j])
		}
		if least > 0 {
			limit = min(limit, max(0, left/least))
		}
	}
	return limit
}
