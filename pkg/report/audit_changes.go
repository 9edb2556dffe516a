package report

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

func newAuditChanges(since string, c *audit.Changes, u Units) *AuditChanges {
	out := &AuditChanges{Since: since, Ledger: []LedgerChange{}, Devices: []DevicesChange{}, New: namedThings(c.New),
		Gone: namedThings(c.Gone)}
	for _, x := range c.Rows {
		kind := cluster.Cohort.Kind
		if x.Row.Node.Queue {
			kind = cluster.ClusterQueue.Kind
		}
		out.Ledger = append(out.Ledger,
			LedgerChange{kind, x.Row.Node.Name, x.Row.Flavor, string(x.Row.Resource),
				u.change(x.Row.Resource, x.Presence, x.Column, x.Before, x.After)})
	}
	for _, x := range c.Devices {
		d := x.Devices
		out.Devices = append(out.Devices,
			DevicesChange{d.Driver, string(d.Resource), d.Model, d.Type, d.Profile,
				u.change("", x.Presence, x.Column, x.Before, x.After)})
	}
	return out
}

func (u Units) change(name corev1.ResourceName, p audit.Presence, column string, before, after audit.Cell) Amounts {
	return Amounts{string(p), column, u.cell(name, before), u.cell(name, after)}
}

func namedThings(in []audit.Named) []NamedThing {
	out := []NamedThing{}
	for _, n := range in {
		out = append(out, NamedThing{n.Kind, string(n.Severity), strings.TrimSpace(n.Subject), n.Text})
	}
	return out
}

// none tells that nothing has changed.
func (c *AuditChanges) none() bool { return len(c.Ledger)+len(c.Devices)+len(c.New)+len(c.Gone) == 0 }

// rows are the changed amounts in words: whose, of what, and from what to what.
func (c *AuditChanges) rows() [][4]string {
	var out [][4]string
	for _, x := range c.Ledger {
		of := x.Resource
		if x.Flavor != "" {
			of += " in " + x.Flavor
		}
		out = append(out, [4]string{x.Name, of, x.Column, x.text()})
	}
	for _, x := range c.Devices {
		out = append(out,
			[4]string{x.Driver + x.Resource, cmp.Or(remarks(x.Model, cmp.Or(x.Profile, x.Type)), "devices"), x.Column,
				x.text()})
	}
	return out
}

func (a Amounts) text() string {
	switch audit.Presence(a.Change) {
	case audit.Appeared:
		return knownText(a.After) + " (new)"
	case audit.Disappeared:
		return knownText(a.Before) + " → gone"
	}
	return knownText(a.Before) + " → " + knownText(a.After)
}

func (d *Audit) drawChanges(s *Screen) {
	c := d.value.Changes
	if c == nil {
		return
	}
	s.section("CHANGED", "since "+c.Since)
	if c.none() {
		s.line("    nothing")
		return
	}
	if rows := c.rows(); len(rows) > 0 {
		g := grid{indent: 4, below: 6, titles: []string{"WHOSE", "OF", "COLUMN", "BEFORE → AFTER"}}
		for _, r := range rows {
			g.add(row{cells: []cell{plainCell(r[0]), plainCell(r[1]), plainCell(r[2])}, tail: words(r[3])})
		}
		g.draw(s)
	}
	for _, x := range c.New {
		s.paragraphIn(s.paint(severityRoles[lint.Severity(x.Severity)], "    + "), 6, normal, x.text())
	}
	for _, x := range c.Gone {
		s.paragraphIn(s.paint(good, "    - "), 6, normal, "gone: "+x.text())
	}
}

func (n NamedThing) text() string {
	if n.Subject == "" {
		return fmt.Sprintf("%s: %s", n.Kind, n.Message)
	}
	return fmt.Sprintf("%s, %s: %s", n.Kind, n.Subject, n.Message)
}

func (m *markdown) drawChanges(d *Audit) {
	c := d.value.Changes
	if c == nil {
		return
	}
	m.table("Changed since "+c.Since, "whose", "of", "column", "before → after")
	for _, r := range c.rows() {
		m.row(r[:]...)
	}
	m.line()
	for _, x := range c.New {
		m.line("- new: " + cellText(x.text()))
	}
	for _, x := range c.Gone {
		m.line("- gone: " + cellText(x.text()))
	}
}

func (d *Audit) htmlChanges() htmlTable {
	c := d.value.Changes
	if c == nil {
		return htmlTable{}
	}
	t := htmlTable{ID: "changes", Title: "Changed", Note: "since " + c.Since,
		Columns: columnsOf("whose", "of", "column", "before → after")}
	for _, r := range c.rows() {
		t.Rows = append(t.Rows, []htmlCell{textCell(r[0]), textCell(r[1]), textCell(r[2]), textCell(r[3])})
	}
	for _, x := range c.New {
		t.Rows = append(t.Rows,
			[]htmlCell{textCell(x.Subject), textCell(x.Kind), {Text: "new", Class: x.Severity}, textCell(x.Message)})
	}
	for _, x := range c.Gone {
		t.Rows = append(t.Rows,
			[]htmlCell{textCell(x.Subject), textCell(x.Kind), {Text: "gone", Class: "good"}, textCell(x.Message)})
	}
	return t
}
