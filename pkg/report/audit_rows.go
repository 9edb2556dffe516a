package report

import (
	"slices"
	"strings"
)

// flavored is a grid with a column of flavors, which is left out where there is only one.
type flavored struct {
	grid
	only string
	at   int
}

func (g *flavored) draw(s *Screen) {
	if g.only != "" {
		g.titles = slices.Delete(g.titles, g.at, g.at+1)
		for i := range g.rows {
			g.rows[i].cells = slices.Delete(g.rows[i].cells, g.at, g.at+1)
		}
		g.right, g.quiet = leftOf(g.right), leftOf(g.quiet)
	}
	g.grid.draw(s)
}

// onlyFlavor is the flavor of all rows; empty when there are several, or rows of none that are shown by themselves.
func (d *Audit) onlyFlavor() string {
	only := ""
	for _, rows := range d.ledgerByNode() {
		for _, l := range mergePending(rows, ledgerParts) {
			switch {
			case l.Flavor == "", only != "" && l.Flavor != only:
				return ""
			}
			only = l.Flavor
		}
	}
	return only
}

func totalParts(t *AuditTotal) (resource, flavor string, sums *Sums) {
	return t.Resource, t.Flavor, &t.Sums
}

func ledgerParts(l *LedgerRow) (resource, flavor string, sums *Sums) {
	return l.Resource, l.Flavor, &l.Sums
}

func inFlavor(only string) string {
	if only == "" {
		return ""
	}
	return "flavor " + only
}

// remarks puts remarks behind one another.
func remarks(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// mergePending puts what is pending, which has no flavor, beside the first flavor of its resource. Rows without flavor
// go where nothing else is in them.
func mergePending[T any](rows []T, of func(*T) (resource, flavor string, sums *Sums)) []T {
	out := slices.Clone(rows)
	drop := map[int]bool{}
	for i := range out {
		resource, flavor, x := of(&out[i])
		if flavor != "" {
			continue
		}
		first := slices.IndexFunc(out[:i], func(t T) bool { r, f, _ := of(&t); return r == resource && f != "" })
		// Rows stand behind one another by resource; those of another node do not lie between.
		if first < 0 || !nothing(x.Reserved) || !nothing(x.Recomputed) || !nothing(x.Allocated) {
			continue
		}
		_, _, into := of(&out[first])
		into.Pending = x.Pending
		drop[i] = true
	}
	var kept []T
	for i := range out {
		if !drop[i] {
			kept = append(kept, out[i])
		}
	}
	return kept
}

// nothing tells that a cell is zero, or that as little is known of it as of its column.
func nothing(v *string) bool { return v == nil || *v == "0" }
