package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Draw implements [Document]: the sums first, then who has what, then what does not add up, and what is not known.
func (d *Audit) Draw(s *Screen) {
	d.drawSummary(s)
	d.drawChanges(s)
	d.drawTotals(s)
	d.drawDevices(s)
	d.drawLedger(s)
	d.drawFaults(s)
	d.drawHolders(s)
	d.drawPending(s)
	d.drawFindings(s)
	d.drawUnknown(s)
	s.line()
	drawKueue(s, d.report.Config)
}

func (d *Audit) drawSummary(s *Screen) {
	s.paragraphIn(s.paint(heading, "AUDIT")+"  ", 7, normal, strings.Join(d.summaryParts(), " · "))
	switch {
	case len(d.faultTexts()) > 0:
		s.paragraphIn(spaces(7), 7, waiting, "! "+d.verdictText())
	case len(d.value.Ledger) == 0:
		s.paragraphIn(spaces(7), 7, faint, "• "+d.verdictText())
	default:
		s.paragraphIn(spaces(7), 7, good, "✓ "+d.verdictText())
	}
}

// summaryParts count the workloads.
func (d *Audit) summaryParts() []string {
	c := d.report.Counts
	if !d.report.Counted {
		return []string{"how many workloads there are is not known"}
	}
	parts := []string{countOf(c.Reserved, "workload") + " with quota", fmt.Sprintf("%d admitted", c.Admitted),
		fmt.Sprintf("%d waiting", c.Waiting)}
	if c.Refused > 0 {
		parts = append(parts, fmt.Sprintf("%d inadmissible or held back", c.Refused))
	}
	return parts
}

// verdictText counts what does not add up, and what lint finds.
func (d *Audit) verdictText() string {
	text := "everything known adds up"
	switch faults := len(d.faultTexts()); {
	case faults == 0 && len(d.value.Ledger) == 0:
		text = "there is nothing to add up"
	case faults == 1:
		text = "1 thing does not add up"
	case faults > 1:
		text = fmt.Sprintf("%d things do not add up", faults)
	}
	return text + " · " + d.findingCounts()
}

func (d *Audit) findingCounts() string {
	f := d.value.Summary.Findings
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{{f.Errors, "error"}, {f.Warnings, "warning"}, {f.Infos, "remark"}} {
		if c.n > 0 {
			parts = append(parts, countOf(c.n, c.word))
		}
	}
	text := "lint finds nothing"
	if len(parts) > 0 {
		text = "lint: " + strings.Join(parts, ", ")
	}
	if f.Suppressed > 0 {
		text += fmt.Sprintf(" · %d suppressed", f.Suppressed)
	}
	return text
}

// noRows says why the ledger is empty.
func (d *Audit) noRows() string {
	if len(d.report.Queues) == 0 {
		return "there are no ClusterQueues in the input"
	}
	return "no queue has quota for devices, and no workload asks for any"
}

// knownCell is an amount, or a question mark.
func knownCell(v *string) cell {
	if v == nil {
		return unknownIfEmpty("")
	}
	return amountCell(*v)
}

// amountCell has a word for what no number limits.
func amountCell(v string) cell {
	if strings.TrimSuffix(v, "m") == fmt.Sprint(int64(quota.Unlimited)) {
		v = "unlimited"
	}
	return cell{text: v}
}

func (d *Audit) drawTotals(s *Screen) {
	only := d.onlyFlavor()
	s.section("HARDWARE AND QUOTA", remarks("of the whole cluster", inFlavor(only)))
	if len(d.value.Totals) == 0 {
		s.line("    " + d.noRows())
		return
	}
	g := flavored{only: only, at: 1,
		grid: grid{indent: 4, below: 6, right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true},
			titles: []string{"RESOURCE", "FLAVOR", "HARDWARE", "QUOTA", "RESERVED", "RECOMPUTED", "ALLOCATED",
				"PENDING", ""}, quiet: map[int]bool{7: true}}}
	for _, t := range mergePending(d.value.Totals, totalParts) {
		r := row{cells: []cell{
			plainCell(t.Resource), dash(t.Flavor), d.hardwareCell(t), amountCell(t.Nominal), knownCell(t.Reserved),
			knownCell(t.Recomputed), knownCell(t.Allocated), knownCell(t.Pending),
		}}
		r.tail = flow{pieces: totalRemarks(t), separator: " · ", role: faint}
		g.add(r)
	}
	g.draw(s)
}

// hardwareCell is what drivers publish and plugins offer; with a plus where one of the two is not known.
func (d *Audit) hardwareCell(t AuditTotal) cell {
	for _, from := range d.report.Totals {
		if string(from.Resource) != t.Resource || from.Flavor != t.Flavor {
			continue
		}
		u := d.units
		sum := from.Published.Plus(from.Allocatable)
		switch {
		case from.Flavor == "" || sum.Known && !from.Offerable:
			return dash("")
		case sum.Known:
			return cell{text: u.quota(from.Resource, sum.Amount)}
		case from.Published.Known && from.Counted != "":
			return cell{text: "≥" + *t.Published}
		case from.Allocatable.Known && from.Allocatable.Amount > 0:
			return cell{text: "≥" + *t.Allocatable}
		}
	}
	return unknownIfEmpty("")
}

func totalRemarks(t AuditTotal) []string {
	var out []string
	if t.Counted != "" {
		text := t.Counted
		if t.AtMost {
			text += ", which share hardware: at most"
		}
		out = append(out, text)
	}
	if t.Healthy != nil && t.Published != nil && *t.Healthy != *t.Published {
		out = append(out, *t.Healthy+" healthy")
	}
	return append(out, differs(t.Sums)...)
}

func differs(x Sums) []string {
	if x.Difference != nil && *x.Difference != "0" {
		return []string{"differs by " + *x.Difference}
	}
	return nil
}

func (d *Audit) drawDevices(s *Screen) {
	if len(d.value.Devices) == 0 {
		return
	}
	s.section("DEVICES", "as drivers and device plugins publish them")
	g := grid{indent: 4, below: 6, right: map[int]bool{2: true, 3: true, 4: true, 5: true},
		titles: []string{"MODEL", "PROFILE", "PUBLISHED", "HEALTHY", "ALLOCATED", "FREE", "CHARGED TO"}, labelled: true}
	for i, x := range d.value.Devices {
		if i == 0 || x.Driver+x.Resource != d.value.Devices[i-1].Driver+d.value.Devices[i-1].Resource {
			g.add(row{cells: append([]cell{{clean(x.Driver + x.Resource), heading}}, make([]cell, 5)...)})
		}
		r := row{cells: []cell{{text: "  " + clean(cmp.Or(x.Model, "-"))}, dash(cmp.Or(x.Profile, x.Type)),
			{text: fmt.Sprint(x.Published)}, {text: fmt.Sprint(x.Healthy)}, knownCell(x.Allocated), knownCell(x.Free)}}
		r.tail = flow{pieces: deviceRemarks(x), separator: ", "}
		g.add(r)
	}
	g.draw(s)
}

// deviceRemarks are the resources that devices are charged to, and what is the matter with some.
func deviceRemarks(x AuditDevices) []string {
	out := slices.Clone(x.ChargedTo)
	if len(out) == 0 {
		out = append(out, "nothing")
	}
	if x.Tainted > 0 {
		out = append(out, fmt.Sprintf("%d tainted", x.Tainted))
	}
	if x.Incomplete > 0 {
		out = append(out, fmt.Sprintf("%d in incomplete pools", x.Incomplete))
	}
	return out
}

func (d *Audit) drawLedger(s *Screen) {
	only := d.onlyFlavor()
	s.section("LEDGER", remarks(d.ledgerRemark(), inFlavor(only)))
	g := flavored{only: only, at: 2,
		grid: grid{indent: 4, below: 8, right: map[int]bool{3: true, 4: true, 5: true, 6: true, 7: true},
			titles: []string{"COHORT / QUEUE", "RESOURCE", "FLAVOR", "QUOTA", "RESERVED", "RECOMPUTED", "ALLOCATED",
				"PENDING", ""}, quiet: map[int]bool{7: true}}}
	depth := d.depths()
	for _, rows := range d.ledgerByNode() {
		for i, l := range mergePending(rows, ledgerParts) {
			name := cell{}
			if i == 0 {
				name = cell{spaces(2*depth[l.row.Node]) + clean(l.Name), heading}
			}
			g.add(row{
				cells: []cell{name, plainCell(l.Resource), dash(l.Flavor), amountCell(l.Total), knownCell(l.Reserved),
					knownCell(l.Recomputed), knownCell(l.Allocated), knownCell(l.Pending)},
				tail: flow{pieces: ledgerRemarks(l), separator: " · ", role: faint},
			})
		}
	}
	if len(g.rows) == 0 {
		s.line("    " + d.noRows())
		return
	}
	g.draw(s)
}

func (d *Audit) ledgerRemark() string {
	switch d.report.Usage {
	case "Status":
		return "reserved is what ClusterQueues report: no Workloads are in the input"
	case "None":
		return "usage is not known: the input holds no Workloads, and the ClusterQueues have no status"
	}
	return "reserved − recomputed is named below, workload by workload"
}

// ledgerByNode are the rows of each node.
func (d *Audit) ledgerByNode() [][]LedgerRow {
	var out [][]LedgerRow
	for i, l := range d.value.Ledger {
		if i == 0 || d.value.Ledger[i-1].row.Node != l.row.Node {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], l)
	}
	return out
}

func ledgerRemarks(l LedgerRow) []string {
	out := differs(l.Sums)
	if l.Borrowed != nil && *l.Borrowed != "0" {
		out = append(out, "+"+*l.Borrowed+" borrowed")
	}
	if l.Lent != nil && *l.LentAtMost != "0" {
		switch *l.Lent {
		case *l.LentAtMost:
			out = append(out, *l.Lent+" lent")
		case "0":
			out = append(out, "up to "+*l.LentAtMost+" lent")
		default:
			out = append(out, *l.Lent+" to "+*l.LentAtMost+" lent")
		}
	}
	return out
}

func (d *Audit) drawHolders(s *Screen) {
	if len(d.value.Holders) == 0 {
		return
	}
	s.section("WHO HAS THE MOST", "")
	g := grid{indent: 4, below: 6, right: map[int]bool{2: true, 4: true},
		titles: []string{"RESOURCE", "FLAVOR", "AMOUNT", "WORKLOAD", "PRIORITY", "QUEUE", ""}}
	for _, h := range d.value.Holders {
		g.add(row{cells: []cell{plainCell(h.Resource), plainCell(h.Flavor), {text: h.Amount},
			plainCell(inNamespace(h.charge)), {text: fmt.Sprint(h.Priority)}, plainCell(h.ClusterQueue)}})
	}
	g.draw(s)
}

func (d *Audit) drawPending(s *Screen) {
	if len(d.value.Pending) == 0 {
		return
	}
	s.section("WAITING LONGEST", "up to three of each queue")
	g := grid{indent: 4, below: 6, titles: []string{"QUEUE", "WORKLOAD", "CREATED", "NEXT ATTEMPT", "WHY"}}
	for i, p := range d.value.Pending {
		created := p.Created
		if at := d.report.Pending[i].Created; !s.Now.IsZero() && !at.IsZero() {
			created = strings.TrimSpace(ago(at, s.Now))
		}
		g.add(row{cells: []cell{plainCell(p.ClusterQueue), plainCell(inNamespace(p.charge)), dash(created),
			plainCell(nextAttempt(p))}, tail: words(p.Why)})
	}
	g.draw(s)
}

// nextAttempt is what the next attempt leads to, with the place in the queue.
func nextAttempt(p AuditPending) string {
	if p.Position == 0 {
		return p.Predicted
	}
	return fmt.Sprintf("%s #%d", p.Predicted, p.Position)
}

func (d *Audit) drawFindings(s *Screen) {
	if len(d.report.Findings.Findings) == 0 {
		return
	}
	s.section("LINT", "kubectl gpu-quota rules explain RULE says more")
	for _, f := range faults(d.report.Findings.Findings) {
		label := fmt.Sprintf("    %s[%s] ", f.lead.Severity, f.lead.Rule.ID)
		text := f.lead.Message
		if at := f.lead.At.Object; !at.IsZero() {
			text += " — " + at.String()
		}
		if n := len(f.others); n > 0 {
			text += fmt.Sprintf(" (affects %s)", affected(f.others))
		}
		s.paragraphIn(s.paint(severityRoles[f.lead.Severity], label), width(label), normal, text)
	}
}

// depths are how deep each node is in its tree.
func (d *Audit) depths() map[any]int {
	out := map[any]int{}
	for _, q := range d.report.Queues {
		if q.Node.Parent != nil {
			out[q.Node] = out[q.Node.Parent] + 1
		}
	}
	return out
}
