package report

import (
	"bytes"
	"cmp"
	_ "embed" // the parts of the page
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
)

var (
	//go:embed page/audit.html
	auditPage string
	//go:embed page/audit.css
	auditStyle template.CSS
	//go:embed page/audit.js
	auditScript template.JS
)

var auditTemplate = template.Must(template.New("audit").Parse(auditPage))

// htmlPage is what the page shows. Its texts are those of the screen, and its amounts those of the JSON.
type htmlPage struct {
	Tool, Summary, Verdict, VerdictClass string
	Style                                template.CSS
	Script                               template.JS
	Tree                                 []htmlNode
	// NoTree says why there is no tree.
	NoTree  string
	Tables  []htmlTable
	Unknown []string
	Kueue   []string
}

// htmlNode is a cohort or queue in the tree.
type htmlNode struct {
	Name, Kind, Counts string
	Bars               []htmlBar
	Children           []htmlNode
}

// htmlBar shows how much of a quota is reserved.
type htmlBar struct {
	Resource, Flavor, Says, Class string
	Percent                       int
}

type htmlTable struct {
	ID, Title, Note string
	Columns         []htmlColumn
	Rows            [][]htmlCell
}

type htmlColumn struct {
	Name   string
	Number bool
}

// htmlCell is a cell; Value is what it sorts by, where that is a number.
type htmlCell struct{ Text, Class, Value string }

// writeAuditHTML writes one file that needs no other: its tables sort, and it prints.
func writeAuditHTML(w io.Writer, d *Audit) error {
	page := htmlPage{
		Tool: d.findings.tool, Summary: strings.Join(d.summaryParts(),
			" · "), Verdict: d.verdictText(), VerdictClass: "good",
		Style: auditStyle, Script: auditScript, NoTree: d.noRows(), Unknown: d.unknownTexts(), Kueue: kueueTexts(d),
	}
	switch {
	case len(d.faultTexts()) > 0:
		page.VerdictClass = "waiting"
	case len(d.value.Ledger) == 0:
		page.VerdictClass = "kind"
	}
	page.Tree = d.htmlTree()
	for _, t := range []htmlTable{
		d.htmlChanges(), d.htmlFaults(), d.htmlTotals(), d.htmlLedger(), d.htmlDevices(), d.htmlHolders(),
		d.htmlPending(), d.htmlFindings(),
	} {
		if len(t.Rows) > 0 {
			page.Tables = append(page.Tables, t)
		}
	}
	return auditTemplate.Execute(w, page)
}

// kueueTexts are the lines about Kueue, as on the screen.
func kueueTexts(d *Audit) []string {
	var out bytes.Buffer
	s := newScreen(&out, Terminal{Width: 1 << 14})
	drawKueue(s, d.report.Config)
	if s.flush() != nil {
		return nil // a buffer does not fail
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func columnsOf(names ...string) []htmlColumn {
	var out []htmlColumn
	for _, n := range names {
		name, number := strings.CutSuffix(n, ":")
		out = append(out, htmlColumn{name, number})
	}
	return out
}

func textCell(text string) htmlCell { return htmlCell{Text: clean(text)} }

// numberCell is an amount that the JSON has as text, with what it sorts by.
func numberCell(text *string, c audit.Cell) htmlCell {
	if text == nil {
		return htmlCell{Text: "?", Class: "unknown"}
	}
	return htmlCell{Text: *text, Class: "number", Value: strconv.FormatInt(int64(c.Amount), 10)}
}

func countCell(n int64) htmlCell {
	text := strconv.FormatInt(n, 10)
	return htmlCell{Text: text, Class: "number", Value: text}
}

func (d *Audit) htmlTotals() htmlTable {
	t := htmlTable{ID: "totals", Title: "Hardware and quota", Note: "of the whole cluster",
		Columns: columnsOf("resource", "flavor", "published:", "healthy:", "allocatable:", "nominal:", "reserved:",
			"recomputed:", "difference:", "allocated:", "pending:", "")}
	for i, x := range d.value.Totals {
		from := &d.report.Totals[i]
		t.Rows = append(t.Rows, append([]htmlCell{
			textCell(x.Resource), textCell(x.Flavor), numberCell(x.Published, from.Published), numberCell(x.Healthy,
				from.Healthy), numberCell(x.Allocatable, from.Allocatable),
			numberCell(&x.Nominal, audit.Of(from.Nominal)),
		}, append(sumCells(x.Sums, from.Reserved, from.Recomputed, from.Difference, from.Allocated,
			from.Pending), textCell(strings.Join(totalRemarks(x), " · ")))...))
	}
	return t
}

func sumCells(x Sums, reserved, recomputed, difference, allocated, pending audit.Cell) []htmlCell {
	return []htmlCell{
		numberCell(x.Reserved, reserved), numberCell(x.Recomputed, recomputed), numberCell(x.Difference,
			difference), numberCell(x.Allocated, allocated), numberCell(x.Pending, pending),
	}
}

func (d *Audit) htmlLedger() htmlTable {
	t := htmlTable{ID: "ledger", Title: "Ledger", Note: d.ledgerRemark(),
		Columns: columnsOf("name", "kind", "cohort", "resource", "flavor", "total:", "reserved:", "recomputed:",
			"difference:", "allocated:", "pending:", "borrowed:", "lent:", "lent at most:")}
	for i, l := range d.value.Ledger {
		r := &d.report.Ledger[i]
		row := []htmlCell{textCell(l.Name), textCell(l.Kind), textCell(l.Cohort), textCell(l.Resource),
			textCell(l.Flavor), numberCell(&l.Total, audit.Of(r.Total))}
		row = append(row, sumCells(l.Sums, r.Reserved, r.Recomputed, r.Difference, r.Allocated, r.Pending)...)
		t.Rows = append(t.Rows,
			append(row, numberCell(l.Borrowed, r.Borrowed), numberCell(l.Lent, r.Lent),
				numberCell(l.LentAtMost, r.LentAtMost)))
	}
	return t
}

func (d *Audit) htmlDevices() htmlTable {
	t := htmlTable{ID: "devices", Title: "Devices", Note: "as drivers and device plugins publish them",
		Columns: columnsOf("driver or resource", "model", "type", "profile", "published:", "healthy:", "tainted:",
			"incomplete:", "allocated:", "free:", "charged to")}
	for i, x := range d.value.Devices {
		from := &d.report.Devices[i]
		t.Rows = append(t.Rows, []htmlCell{
			textCell(x.Driver + x.Resource), textCell(x.Model), textCell(x.Type), textCell(x.Profile),
			countCell(x.Published), countCell(x.Healthy), countCell(x.Tainted), countCell(x.Incomplete),
			numberCell(x.Allocated, from.Allocated), numberCell(x.Free, from.Free),
			textCell(cmp.Or(strings.Join(x.ChargedTo, ", "), "nothing")),
		})
	}
	return t
}

func (d *Audit) htmlFaults() htmlTable {
	t := htmlTable{ID: "faults", Title: "What does not add up", Columns: columnsOf("severity", "kind", "what")}
	for _, f := range d.faultTexts() {
		t.Rows = append(t.Rows,
			[]htmlCell{{Text: string(f.severity), Class: string(f.severity)}, textCell(f.kind), textCell(f.text)})
	}
	return t
}

func (d *Audit) htmlHolders() htmlTable {
	t := htmlTable{ID: "holders", Title: "Who has the most",
		Columns: columnsOf("resource", "flavor", "amount:", "workload", "priority:", "queue", "since")}
	for i, h := range d.value.Holders {
		t.Rows = append(t.Rows,
			[]htmlCell{textCell(h.Resource), textCell(h.Flavor),
				numberCell(&h.Amount, audit.Of(d.report.Holders[i].Amount)), textCell(inNamespace(h.charge)),
				countCell(h.Priority), textCell(h.ClusterQueue), textCell(h.Since)})
	}
	return t
}

func (d *Audit) htmlPending() htmlTable {
	t := htmlTable{ID: "pending", Title: "Waiting longest", Note: "up to three of each queue",
		Columns: columnsOf("queue", "workload", "created", "next attempt", "why")}
	for _, p := range d.value.Pending {
		t.Rows = append(t.Rows,
			[]htmlCell{textCell(p.ClusterQueue), textCell(inNamespace(p.charge)), textCell(p.Created),
				textCell(nextAttempt(p)), textCell(p.Why)})
	}
	return t
}

func (d *Audit) htmlFindings() htmlTable {
	t := htmlTable{ID: "findings", Title: "Lint", Columns: columnsOf("severity", "rule", "where", "what")}
	for _, f := range d.report.Findings.Findings {
		t.Rows = append(t.Rows,
			[]htmlCell{{Text: string(f.Severity), Class: string(f.Severity)}, textCell(f.Rule.ID),
				textCell(f.At.Object.String()), textCell(f.Message)})
	}
	return t
}

// htmlTree nests the nodes as they are nested in the cluster.
func (d *Audit) htmlTree() []htmlNode {
	bars := map[*admission.TreeNode][]htmlBar{}
	for i := range d.value.Ledger {
		l := &d.value.Ledger[i]
		if l.Flavor != "" {
			bars[l.row.Node] = append(bars[l.row.Node], newHTMLBar(l))
		}
	}
	var nest func(n *admission.TreeNode) htmlNode
	nest = func(n *admission.TreeNode) htmlNode {
		out := htmlNode{Name: clean(n.Name), Kind: "cohort", Bars: bars[n]}
		if n.Queue {
			out.Kind = "queue"
		}
		if d.report.Counted {
			out.Counts = fmt.Sprintf("%d admitted, %d waiting", n.Counts.Admitted, n.Counts.Waiting)
		}
		for _, c := range n.Children {
			out.Children = append(out.Children, nest(c))
		}
		return out
	}
	var out []htmlNode
	for _, q := range d.report.Queues {
		if q.Node.Parent == nil {
			out = append(out, nest(q.Node))
		}
	}
	return out
}

func newHTMLBar(l *LedgerRow) htmlBar {
	bar := htmlBar{Resource: clean(l.Resource), Flavor: clean(l.Flavor), Class: "none", Percent: 100}
	bar.Says = fmt.Sprintf("%s of %s reserved", knownText(l.Reserved), amountCell(l.Total).text)
	if !l.row.Reserved.Known {
		return bar
	}
	reserved, total := l.row.Reserved.Amount, l.row.Total
	bar.Class, bar.Percent = "within", 0
	switch {
	case reserved > total:
		bar.Class, bar.Percent = "over", 100
	case total > 0:
		bar.Percent = int(float64(reserved) / float64(total) * 100)
	}
	return bar
}
