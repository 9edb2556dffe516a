package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// Draw implements [Document]: a row for each node and kind of device, and under the devices of a pool the counters in
// use.
func (d *Devices) Draw(s *Screen) {
	if len(d.pools) == 0 {
		s.line("No devices found.")
		d.remarks(s)
		return
	}
	v := &deviceScreen{Devices: d, s: s, driver: s.Wide || d.drivers() > 1}
	v.g.titles = []string{"NODE", "MODEL", "PROFILE", "PUBLISHED", "ALLOCATED", "BLOCKED", "FREE", "TAINTED", ""}
	if v.driver {
		v.g.titles = slices.Insert(v.g.titles, 1, "DRIVER")
	}
	if s.Wide {
		v.g.titles = slices.Insert(v.g.titles, 2, "POOL")
	}
	v.g.below, v.g.right = 4, map[int]bool{}
	for i := len(v.g.titles) - 6; i < len(v.g.titles)-1; i++ {
		v.g.right[i] = true
	}
	v.g.quiet = map[int]bool{len(v.g.titles) - 2: true}
	for _, p := range d.byPlace() {
		v.pool(p)
	}
	v.total()
	v.g.draw(s)
	s.line()
	d.remarks(s)
}

// byPlace orders the pools by where their devices are, then as they are.
func (d *Devices) byPlace() []keptPool {
	place := func(p keptPool) string {
		if len(p.groups) == 0 {
			return ""
		}
		return p.groups[0].Place.String()
	}
	return slices.SortedStableFunc(slices.Values(d.pools),
		func(a, b keptPool) int { return cmp.Compare(place(a), place(b)) })
}

func (d *Devices) drivers() int {
	seen := map[string]bool{}
	for _, p := range d.pools {
		seen[p.Driver] = true
	}
	return len(seen)
}

type deviceScreen struct {
	*Devices
	s      *Screen
	g      grid
	driver bool
}

func (v *deviceScreen) pool(p keptPool) {
	if len(p.groups) == 0 {
		empty := v.row("(none)", p.Name, device.Count{Kind: device.Kind{Driver: p.Driver}})
		empty.tail = flow{pieces: []string{"✗ pool " + p.Name + " " + clean(p.problemOrEmpty())}, separator: " · ",
			role: bad}
		v.g.add(empty)
		return
	}
	for _, g := range p.groups {
		r := v.row(g.Place.String(), p.Name, g.Count)
		r.tail = flow{pieces: v.notes(p, g), separator: " · "}
		if p.Problem != "" {
			r.tail.role = bad
		}
		v.g.add(r)
	}
	last := &v.g.rows[len(v.g.rows)-1]
	for _, set := range p.sets() {
		if pieces := v.counters(set); len(pieces) > 0 {
			last.under = append(last.under, note{flow: flow{pieces: pieces, separator: " · ", role: faint}, indent: 4})
		}
	}
	v.details(p, last)
}

func (p keptPool) problemOrEmpty() string {
	if p.Problem != "" {
		return p.Problem
	}
	return "has no devices"
}

// details are the taints and, on a wide screen, who holds what.
func (v *deviceScreen) details(p keptPool, last *row) {
	for _, g := range p.groups {
		for _, u := range g.Devices {
			for _, t := range u.Taints() {
				text := t.Key
				if t.Value != "" {
					text += "=" + t.Value
				}
				last.under = append(last.under,
					note{flow: flow{pieces: strings.Fields(clean(u.ID().Device + " is tainted: " + text + ":" +
						string(t.Effect))), separator: " ", role: waiting}, indent: 4})
			}
			if !v.s.Wide {
				continue
			}
			for _, h := range heldDevices(u.ID(), u.Holders()) {
				last.under = append(last.under, note{flow: words(heldText(h)), indent: 4})
			}
		}
	}
}

// heldText says who holds a device.
func heldText(h HeldDevice) string {
	text := h.Device + " is held by " + h.Claim.String()
	if h.Share != "" {
		text += " (shared)"
	}
	if len(h.For) > 0 {
		text += " for " + strings.Join(h.For, ", ")
	}
	return text
}

// row counts the devices of a kind.
func (v *deviceScreen) row(place, pool string, c device.Count) row {
	profile := cmp.Or(c.Profile, c.Type, "-")
	cells := []cell{plainCell(place), plainCell(cmp.Or(c.Model, "-")), plainCell(profile), {text: number(c.Published)}}
	if v.driver {
		cells = slices.Insert(cells, 1, plainCell(c.Driver))
	}
	if v.s.Wide {
		cells = slices.Insert(cells, 2, plainCell(pool))
	}
	allocated, blocked, free := cell{"?", faint}, cell{"?", faint}, cell{"?", faint}
	if v.stock.Known {
		allocated, blocked, free = cell{text: number(c.Allocated +
			c.Shared)}, cell{text: number(c.Blocked)}, cell{number(c.Free), good}
		if c.AtLeast {
			free.text += "+"
		}
		if c.Free == 0 {
			free.role = normal
		}
	}
	tainted := cell{text: number(c.Tainted)}
	if c.Tainted > 0 {
		tainted.role = waiting
	}
	return row{cells: append(cells, allocated, blocked, free, tainted)}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// notes are what the columns do not say of a group.
func (v *deviceScreen) notes(p keptPool, g *device.Group) []string {
	var out []string
	if p.Problem != "" {
		out = append(out, "✗ "+clean(p.Problem))
	}
	if !v.stock.Known {
		return out
	}
	if g.Shared > 0 {
		out = append(out, number(g.Shared)+" shared")
	}
	if g.Candidates > g.Free {
		out = append(out, fmt.Sprintf("%d of %d at a time", g.Free, g.Candidates))
	}
	return out
}

// counters lists the counters of a set that are in use; on a wide screen all.
func (v *deviceScreen) counters(set *device.CounterSet) []string {
	if !v.stock.Known {
		return nil
	}
	var out []string
	for c := range set.Counters {
		if c.Used.IsZero() && !v.s.Wide {
			continue
		}
		out = append(out, clean(fmt.Sprintf("%s %s/%s", c.Name, c.Used.String(), c.Total.String())))
	}
	if len(out) > 0 {
		out[0] = clean(set.Name) + " used: " + out[0]
	}
	return out
}

// total adds up the kinds that are in several places.
func (v *deviceScreen) total() {
	places := map[device.Kind]int{}
	for _, p := range v.pools {
		for _, g := range p.groups {
			places[g.Kind]++
		}
	}
	for _, c := range v.counts() {
		if places[c.Kind] < 2 {
			continue
		}
		r := v.row("TOTAL", "", c)
		for i := range r.cells {
			if r.cells[i].role == normal {
				r.cells[i].role = heading
			}
		}
		v.g.add(r)
	}
}

// remarks are what holds for the whole list.
func (d *Devices) remarks(s *Screen) {
	if slices.Contains(d.missing, cluster.ResourceSlice.Kind) {
		s.remark(faint, "? ", "the ResourceSlices of the cluster are not in the input: there may be more devices")
	}
	if !d.stock.Known && len(d.pools) > 0 {
		s.remark(faint, "? ", "what is allocated and free is not known: the ResourceClaims of all namespaces are not "+
			"in the input")
	}
	if len(d.pools) > 0 && d.stock.Known {
		s.remark(faint, "", "BLOCKED: counters they need are in use. FREE: how many more of a kind can be allocated "+
			"together, if no others are.")
	}
	for _, text := range d.stock.Assumptions {
		s.remark(faint, "note: ", text)
	}
	if !d.whole {
		return
	}
	for _, gone := range d.stock.Gone {
		for _, h := range heldDevices(gone.ID, gone.Holders) {
			s.remark(waiting, "! ", "no longer published: "+h.Driver+"/"+h.Pool+"/"+heldText(h))
		}
	}
}
