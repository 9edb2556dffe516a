package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Changes are what differs between an older report and this one.
type Changes struct {
	// Rows are amounts of the ledger that changed, in its order, those that are gone last.
	Rows []RowChange
	// Devices are kinds of devices whose numbers changed.
	Devices []DeviceChange
	// New and Gone are the differences, uncounted devices, issues and findings that are in only one of the two.
	New, Gone []Named
}

// Presence tells whether something is in both reports.
type Presence string

const (
	// Changed: it is in both, and differs.
	Changed Presence = "changed"
	// Appeared: it is in the newer one alone.
	Appeared Presence = "new"
	// Disappeared: it is in the older one alone.
	Disappeared Presence = "gone"
)

// RowChange is one amount of the ledger that changed. Of a row that is in one report alone only that side is
// meaningful.
type RowChange struct {
	Row      *Row
	Presence Presence
	// Column is the name of the amount in the JSON.
	Column        string
	Before, After Cell
}

// DeviceChange is one number of a kind of devices that changed.
type DeviceChange struct {
	Devices       *Devices
	Presence      Presence
	Column        string
	Before, After Cell
}

// Named is one thing that a report names.
type Named struct {
	// Kind is the reason of a difference, the kind of an issue, Uncounted, or the ID of a rule.
	Kind     string
	Severity lint.Severity
	// Subject is the object it is about.
	Subject string
	Text    string
}

// rowColumns are the amounts of a row by the names that the JSON has for them.
var rowColumns = []struct {
	name string
	of   func(*Row) Cell
}{
	{"total", func(r *Row) Cell { return Of(r.Total) }},
	{"reserved", func(r *Row) Cell { return r.Reserved }},
	{"admitted", func(r *Row) Cell { return r.Admitted }},
	{"recomputed", func(r *Row) Cell { return r.Recomputed }},
	{"allocated", func(r *Row) Cell { return r.Allocated }},
	{"pending", func(r *Row) Cell { return r.Pending }},
	{"borrowed", func(r *Row) Cell { return r.Borrowed }},
}

// deviceColumns are the numbers of a kind of devices.
var deviceColumns = []struct {
	name string
	of   func(*Devices) Cell
}{
	{"published", func(d *Devices) Cell { return Of(quota.Amount(d.Published)) }},
	{"healthy", func(d *Devices) Cell { return Of(quota.Amount(d.Healthy)) }},
	{"allocated", func(d *Devices) Cell { return d.Allocated }},
}

// Compare says what has changed since an older report.
func (r *Report) Compare(old *Report) *Changes {
	out := &Changes{}
	type rowKey struct {
		queue bool
		name  string
		quota.FlavorResource
	}
	keyOf := func(row *Row) rowKey { return rowKey{row.Node.Queue, row.Node.Name, row.FlavorResource} }
	pairs(old.Ledger, r.Ledger, keyOf, func(before, after *Row, p Presence) {
		for _, c := range rowColumns {
			if b, a, differs := sides(before, after, c.of); differs {
				out.Rows = append(out.Rows, RowChange{cmp.Or(after, before), p, c.name, b, a})
			}
		}
	})
	type deviceKey struct {
		device.Kind
		resource string
	}
	pairs(old.Devices, r.Devices, func(d *Devices) deviceKey { return deviceKey{d.Kind, string(d.Resource)} },
		func(before, after *Devices, p Presence) {
			for _, c := range deviceColumns {
				if b, a, differs := sides(before, after, c.of); differs {
					out.Devices = append(out.Devices, DeviceChange{cmp.Or(after, before), p, c.name, b, a})
				}
			}
		})
	// What is not told any more, or was not told, is there all the same.
	was, is := old.named(), r.named()
	out.New, out.Gone = without(is, slices.Concat(was, old.untold())), without(was, slices.Concat(is, r.untold()))
	return out
}

// pairs visits what is in the newer list, then what is in the older one alone.
func pairs[T any, K comparable](old, now []T, keyOf func(*T) K, visit func(before, after *T, p Presence)) {
	before, seen := map[K]*T{}, map[K]bool{}
	for i := range old {
		before[keyOf(&old[i])] = &old[i]
	}
	for i := range now {
		k := keyOf(&now[i])
		seen[k] = true
		if b := before[k]; b != nil {
			visit(b, &now[i], Changed)
		} else {
			visit(nil, &now[i], Appeared)
		}
	}
	for i := range old {
		if !seen[keyOf(&old[i])] {
			visit(&old[i], nil, Disappeared)
		}
	}
}

// sides are an amount before and after. Of what is on one side alone, zero is nothing to tell.
func sides[T any](before, after *T, of func(*T) Cell) (b, a Cell, differs bool) {
	switch {
	case before == nil:
		a = of(after)
		return b, a, a.Known && a.Amount != 0
	case after == nil:
		b = of(before)
		return b, a, b.Known && b.Amount != 0
	}
	b, a = of(before), of(after)
	return b, a, b.Known != a.Known || a.Known && a.Amount != b.Amount
}

// named is everything that a report names.
func (r *Report) named() []Named {
	var out []Named
	for _, d := range r.Differences {
		w := d.Charge.Workload
		out = append(out, Named{string(d.Reason), lint.Warning, w.Ref().String(), string(d.Resource) + ": " + d.Text})
	}
	for _, u := range r.Uncounted {
		out = append(out,
			Named{"Uncounted", lint.Warning, u.Object.String(), string(u.Resource) + u.Class + ": " + u.Why})
	}
	for _, i := range r.Issues {
		out = append(out, Named{string(i.Kind), i.Severity, i.Object.String(), i.Text})
	}
	if r.Findings != nil {
		for i := range r.Findings.Findings {
			out = append(out, namedFinding(&r.Findings.Findings[i]))
		}
	}
	return out
}

func namedFinding(f *lint.Finding) Named {
	return Named{f.Rule.ID, f.Severity, strings.TrimSpace(f.At.Object.String() + " " + f.At.Path), f.Message}
}

// untold are the findings that are suppressed.
func (r *Report) untold() []Named {
	var out []Named
	if r.Findings != nil {
		for i := range r.Findings.Suppressed {
			out = append(out, namedFinding(&r.Findings.Suppressed[i].Finding))
		}
	}
	return out
}

// without is what is in a and not in b, each as often as it is there more often, in the order of a.
func without(a, b []Named) []Named {
	counts := map[Named]int{}
	for _, n := range b {
		counts[n]++
	}
	return slices.DeleteFunc(slices.Clone(a), func(n Named) bool {
		counts[n]--
		return counts[n] >= 0
	})
}
