package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// writeAuditMarkdown writes the report for an issue or a wiki.
func writeAuditMarkdown(w io.Writer, d *Audit) error {
	out := bufio.NewWriter(w)
	m := &markdown{Screen: newScreen(out, Terminal{Width: 1 << 12})}
	m.line("# GPU quota audit")
	m.line()
	m.line(strings.Join(d.summaryParts(), " · ") + " · " + d.verdictText())
	m.drawChanges(d)
	m.drawTotals(d)
	m.drawLedger(d)
	m.drawFaults(d)
	m.drawDevices(d)
	m.drawHolders(d)
	m.drawPending(d)
	m.drawFindings(d)
	m.drawUnknown(d)
	m.line()
	drawKueue(m.Screen, d.report.Config)
	if err := m.flush(); err != nil {
		return err
	}
	return out.Flush()
}

// markdown writes tables.
type markdown struct{ *Screen }

// table starts a section with a table. A title that ends with a colon has its column aligned to the right.
func (m *markdown) table(title string, columns ...string) {
	m.line()
	m.line("## " + title)
	m.line()
	var marks []string
	for i, c := range columns {
		mark := "---"
		if right, ok := strings.CutSuffix(c, ":"); ok {
			columns[i], mark = right, "---:"
		}
		marks = append(marks, mark)
	}
	m.row(columns...)
	m.line("|" + strings.Join(marks, "|") + "|")
}

func (m *markdown) row(cells ...string) {
	for i := range cells {
		cells[i] = cellText(cells[i])
	}
	m.line("| " + strings.Join(cells, " | ") + " |")
}

func knownText(v *string) string { return knownCell(v).text }

func (m *markdown) drawTotals(d *Audit) {
	m.table("Hardware and quota", "resource", "flavor", "hardware:", "quota:", "reserved:", "recomputed:", "allocated:",
		"pending:", "")
	for _, t := range mergePending(d.value.Totals, totalParts) {
		m.row(t.Resource, cmp.Or(t.Flavor, "-"), d.hardwareCell(t).text, amountCell(t.Nominal).text,
			knownText(t.Reserved), knownText(t.Recomputed), knownText(t.Allocated),
			knownText(t.Pending), strings.Join(totalRemarks(t), " · "))
	}
}

func (m *markdown) drawLedger(d *Audit) {
	m.table("Ledger", "cohort or queue", "resource", "flavor", "quota:", "reserved:", "recomputed:", "allocated:",
		"pending:", "")
	depth := d.depths()
	for _, rows := range d.ledgerByNode() {
		for i, l := range mergePending(rows, ledgerParts) {
			name := ""
			if i == 0 {
				name = strings.Repeat("· ", depth[l.row.Node]) + l.Name
			}
			m.row(name, l.Resource, cmp.Or(l.Flavor, "-"), amountCell(l.Total).text, knownText(l.Reserved),
				knownText(l.Recomputed), knownText(l.Allocated), knownText(l.Pending),
				strings.Join(ledgerRemarks(l), " · "))
		}
	}
}

func (m *markdown) drawFaults(d *Audit) {
	faults := d.faultTexts()
	if len(faults) == 0 {
		return
	}
	m.table("What does not add up", "", "kind", "what")
	for _, f := range faults {
		m.row(string(f.severity), f.kind, f.text)
	}
}

func (m *markdown) drawDevices(d *Audit) {
	if len(d.value.Devices) == 0 {
		return
	}
	m.table("Devices", "driver or resource", "model", "profile", "published:", "healthy:", "allocated:", "free:",
		"charged to")
	for _, x := range d.value.Devices {
		m.row(x.Driver+x.Resource, cmp.Or(x.Model, "-"), cmp.Or(x.Profile, x.Type, "-"), fmt.Sprint(x.Published),
			fmt.Sprint(x.Healthy), knownText(x.Allocated), knownText(x.Free),
			strings.Join(deviceRemarks(x), ", "))
	}
}

func (m *markdown) drawHolders(d *Audit) {
	if len(d.value.Holders) == 0 {
		return
	}
	m.table("Who has the most", "resource", "flavor", "amount:", "workload", "priority:", "queue")
	for _, h := range d.value.Holders {
		m.row(h.Resource, h.Flavor, h.Amount, inNamespace(h.charge), fmt.Sprint(h.Priority), h.ClusterQueue)
	}
}

func (m *markdown) drawPending(d *Audit) {
	if len(d.value.Pending) == 0 {
		return
	}
	m.table("Waiting longest", "queue", "workload", "created", "next attempt", "why")
	for _, p := range d.value.Pending {
		m.row(p.ClusterQueue, inNamespace(p.charge), cmp.Or(p.Created, "-"), nextAttempt(p), p.Why)
	}
}

func (m *markdown) drawFindings(d *Audit) {
	if len(d.report.Findings.Findings) == 0 {
		return
	}
	m.table("Lint", "", "rule", "where", "what")
	for _, f := range d.report.Findings.Findings {
		m.row(string(f.Severity), f.Rule.ID, f.At.Object.String(), f.Message)
	}
}

func (m *markdown) drawUnknown(d *Audit) {
	texts := d.unknownTexts()
	if len(texts) == 0 {
		return
	}
	m.line()
	m.line("## Not known, shown as ?")
	m.line()
	for _, text := range texts {
		m.line("- " + cellText(text))
	}
}

// faultText is one thing that does not add up.
type faultText struct {
	severity lint.Severity
	kind     string
	text     string
}
