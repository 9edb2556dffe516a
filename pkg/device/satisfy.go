package device

import "slices"

// Request is one device request of a claim that has CEL selectors.
type Request struct {
	Class, Selectors []*Expression
	Count            int64
}

// Answer tells how one request of a claim fares against all published devices.
type Answer struct {
	// Matched devices, at most the count asked for.
	Matched int64
	// Err is the evaluation error met before enough devices matched.
	Err error
	// Other holds the other answers that are possible because the order between slices is arbitrary;
	// empty when the answer is certain.
	Other []Answer
	// Sampled tells that not all orders could be tried, so that there may be further answers.
	Sampled bool
}

// Certain tells that no order of slices gives another answer.
func (a Answer) Certain() bool { return len(a.Other) == 0 && !a.Sampled }

// Satisfy answers the requests of one claim in order, as Kueue does: a device is taken by the first
// request that matches it, the search for a request ends with its count-th match, and an evaluation
// error met before that fails the request. drivers limits the slices looked at; nil looks at all.
func (inv *Inventory) Satisfy(requests []Request, drivers []string) []Answer {
	c := &claim{inv: inv, requests: requests}
	for _, r := range requests {
		inv.ensure(r.Class, r.Selectors)
	}
	for _, r := range requests {
		c.matches = append(c.matches, inv.Match(r.Class, r.Selectors))
	}
	c.counts(drivers)
	if c.erring || len(requests) > 1 {
		c.relevant(drivers)
		if len(c.slices) <= 1 {
			return c.walk(c.slices)
		}
	}
	if c.erring {
		return c.uncertain()
	}
	return c.bounds()
}

// claim is the state of one Satisfy call.
type claim struct {
	inv      *Inventory
	requests []Request
	matches  []*Match
	slices   []*Slice
	groups   []*group
	erring   bool
}

// counts selects the groups of the drivers that any request matches or fails on.
func (c *claim) counts(drivers []string) {
	for _, g := range c.inv.grouped.order {
		if !among(g.shape.driver, drivers) {
			continue
		}
		hit := false
		for _, m := range c.matches {
			r := m.results[g.shape]
			hit = hit || r.match || r.fails()
			c.erring = c.erring || r.fails()
		}
		if hit {
			c.groups = append(c.groups, g)
		}
	}
}

func among(driver string, drivers []string) bool {
	if drivers == nil {
		return true
	}
	for _, d := range drivers {
		if d == driver {
			return true
		}
	}
	return false
}

// relevant selects the slices that hold devices of the selected groups.
func (c *claim) relevant(drivers []string) {
	in := map[*group]bool{}
	for _, g := range c.groups {
		in[g] = true
	}
	for _, s := range c.inv.Slices {
		if !among(s.Object.Spec.Driver, drivers) {
			continue
		}
		for _, g := range s.groups {
			if in[g] {
				c.slices = append(c.slices, s)
				break
			}
		}
	}
}

// walk goes through the devices in one order of the slices.
func (c *claim) walk(order []*Slice) []Answer {
	type at struct{ slice, device int }
	taken := map[at]bool{}
	answers := make([]Answer, len(c.requests))
	for k := range c.requests {
		a := &answers[k]
	search:
		for i, s := range order {
			for j, g := range s.groups {
				if taken[at{i, j}] {
					continue
				}
				r := c.matches[k].results[g.shape]
				if r.fails() {
					a.Err = r.errs[0]
					for _, other := range r.errs[1:] {
						a.merge(Answer{Err: other})
					}
					break search
				}
				if !r.match {
					continue
				}
				taken[at{i, j}] = true
				if a.Matched++; a.Matched >= c.requests[k].Count {
					break search
				}
			}
		}
	}
	return answers
}

// uncertain answers when errors can be met and several slices matter.
func (c *claim) uncertain() []Answer {
	if len(c.requests) == 1 {
		return []Answer{c.single()}
	}
	// For few slices every order is tried. For many, only the orders that favour or hinder one slice,
	// and nothing is certain.
	var orders [][]*Slice
	sampled := len(c.slices) > maxPermuted
	if sampled {
		orders = [][]*Slice{c.slices}
		for i := range min(len(c.slices), maxOrders) {
			orders = append(orders, moved(c.slices, i, true), moved(c.slices, i, false))
		}
	} else {
		EveryOrder(c.slices, func(o []*Slice) { orders = append(orders, o) })
	}
	answers := c.walk(orders[0])
	for _, o := range orders[1:] {
		for k, other := range c.walk(o) {
			answers[k].mergeAll(other)
		}
	}
	for k := range answers {
		answers[k].Sampled = sampled
	}
	return answers
}

// EveryOrder visits all orders of a list: what is left to an arbitrary order has one outcome for each.
func EveryOrder[T any](list []T, visit func([]T)) { ordersFrom(list, 0, visit) }

func ordersFrom[T any](list []T, k int, visit func([]T)) {
	if k >= len(list) {
		visit(list)
		return
	}
	for i := k; i < len(list); i++ {
		next := slices.Clone(list)
		next[k], next[i] = next[i], next[k]
		ordersFrom(next, k+1, visit)
	}
}

// single decides one request exactly. A slice fails it when the slice comes first and does not hold
// enough matches before its failing device. It succeeds when the slices without failing devices, and
// the best of the others, hold enough.
func (c *claim) single() Answer {
	want := c.requests[0].Count
	var clean, best int64
	var possible []Answer
	for _, s := range c.slices {
		a := c.walk([]*Slice{s})[0]
		if a.Err == nil {
			clean += a.Matched
			continue
		}
		best = max(best, a.Matched)
		possible = append(possible, a)
	}
	if clean+best >= want {
		possible = append(possible, Answer{Matched: want})
	}
	if len(possible) == 0 {
		return Answer{Matched: min(clean, want)}
	}
	answer := possible[0]
	for _, p := range possible[1:] {
		answer.mergeAll(p)
	}
	return answer
}

const (
	// maxPermuted is the number of slices up to which every order is tried.
	maxPermuted = 5
	// maxOrders bounds the orders tried for more slices.
	maxOrders = 64
)

func moved(in []*Slice, i int, first bool) []*Slice {
	out := make([]*Slice, 0, len(in))
	if first {
		out = append(out, in[i])
	}
	out = append(out, in[:i]...)
	out = append(out, in[i+1:]...)
	if !first {
		out = append(out, in[i])
	}
	return out
}

// merge adds another possible answer unless it is known.
func (a *Answer) merge(b Answer) {
	if a.equal(b) {
		return
	}
	for _, o := range a.Other {
		if o.equal(b) {
			return
		}
	}
	a.Other = append(a.Other, Answer{Matched: b.Matched, Err: b.Err})
}

// mergeAll adds another possible answer and all the others it has.
func (a *Answer) mergeAll(b Answer) {
	a.merge(b)
	for _, o := range b.Other {
		a.merge(o)
	}
}

// equal compares what Kueue would say: an error by its text, else the number of matches.
func (a Answer) equal(b Answer) bool {
	if a.Err != nil || b.Err != nil {
		return a.Err != nil && b.Err != nil && a.Err.Error() == b.Err.Error()
	}
	return a.Matched == b.Matched
}

// bounds answers without errors from numbers alone: how many devices earlier requests take from those
// that a later one matches is certain only within bounds.
func (c *claim) bounds() []Answer {
	answers := make([]Answer, len(c.requests))
	least, most := make([]int64, len(c.requests)), make([]int64, len(c.requests))
	for k := range c.requests {
		total, lostAtMost, lostAtLeast := c.matching(k, k), int64(0), int64(0)
		for j := range k {
			both := c.matching(j, k)
			lostAtMost += min(most[j], both)
			lostAtLeast += max(0, least[j]-(c.matching(j, j)-both))
		}
		want := c.requests[k].Count
		least[k] = min(max(0, total-lostAtMost), want)
		most[k] = min(max(0, total-lostAtLeast), want)
		answers[k].Matched = least[k]
		if most[k] != least[k] {
			answers[k].Other = []Answer{{Matched: most[k]}}
		}
	}
	return answers
}

// matching counts the devices that both requests match.
func (c *claim) matching(j, k int) int64 {
	var n int64
	for _, g := range c.groups {
		if c.matches[j].results[g.shape].match && c.matches[k].results[g.shape].match {
			n += g.devices
		}
	}
	return n
}
