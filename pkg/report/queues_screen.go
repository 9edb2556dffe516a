package report

import (
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Draw implements [Document]: the trees of cohorts, and under every queue its account of each flavor and resource.
func (d *Queues) Draw(s *Screen) {
	t := &treeScreen{Queues: d, s: s}
	for _, root := range d.trees.Roots {
		t.measure(root)
	}
	if len(t.g.rows) == 0 && len(d.nodes(true)) == 0 {
		s.line("No ClusterQueues found.")
		drawKueue(s, d.conf)
		return
	}
	t.fit()
	first := true
	for _, root := range d.trees.Roots {
		if !t.any(root) {
			continue
		}
		if !first {
			s.line()
		}
		first = false
		t.node(root, "", "")
	}
	s.line()
	switch d.trees.Usage {
	case admission.FromStatus:
		s.remark(faint, "", "no Workloads are in the input: usage is what the status of the ClusterQueues says, and "+
			"what waits is only counted")
	case admission.FromNothing:
		s.remark(faint, "? ", "usage is not known: the input holds no Workloads, and the ClusterQueues have no status")
	}
	drawKueue(s, d.conf)
}

// treeScreen draws trees with all accounts in the same columns.
type treeScreen struct {
	*Queues
	s      *Screen
	g      grid
	widths []int
	titled bool
	// barless leaves out the bars: they say again what the columns beside them say.
	barless bool
}

// barColumn is where the bars stand.
const barColumn = 2

// fit finds out which columns have room.
func (t *treeScreen) fit() {
	t.widths = t.g.widths()
	if t.s.columnsThatFit(accountIndent, t.widths) < len(t.widths) {
		t.barless = true
		t.widths = slices.Delete(t.widths, barColumn, barColumn+1)
		t.g.titles = slices.Delete(t.g.titles, barColumn, barColumn+1)
		t.g.right = leftOf(t.g.right)
	}
	t.widths = t.widths[:t.s.columnsThatFit(accountIndent, t.widths)]
}

// any tells that the node or one below it is kept.
func (t *treeScreen) any(n *admission.TreeNode) bool {
	return t.keeps(n) || slices.ContainsFunc(n.Children, t.any)
}

// measure collects the rows for the widths of the columns.
func (t *treeScreen) measure(n *admission.TreeNode) {
	if t.g.titles == nil {
		t.g = t.newGrid()
	}
	if t.keeps(n) {
		for _, l := range byResource(n.Lines) {
			t.g.add(t.row(n, l))
		}
	}
	for _, c := range n.Children {
		t.measure(c)
	}
}

// newGrid has the columns of the rows.
func (t *treeScreen) newGrid() grid {
	g := grid{titles: []string{"RESOURCE", "FLAVOR", "", "USED", "QUOTA", "FREE", ""},
		right: map[int]bool{3: true, 4: true, 5: true}}
	if t.s.Wide {
		g.titles = slices.Insert(g.titles, 6, "ADMITTED", "MAXIMUM")
		g.right[6], g.right[7] = true, true
	}
	return g
}

func byResource(lines []admission.TreeLine) []*admission.TreeLine {
	out := make([]*admission.TreeLine, len(lines))
	for i := range lines {
		out[i] = &lines[i]
	}
	slices.SortStableFunc(out, func(a, b *admission.TreeLine) int { return compareResources(a.Resource, b.Resource) })
	return out
}

// node draws a node behind its branch, and everything below it behind the stem that goes on.
func (t *treeScreen) node(n *admission.TreeNode, branch, stem string) {
	var children []*admission.TreeNode
	for _, c := range n.Children {
		if t.any(c) {
			children = append(children, c)
		}
	}
	below := stem
	if len(children) > 0 {
		below += "│"
	}
	t.heading(n, branch, below)
	if t.keeps(n) {
		t.accounts(n, below)
	}
	for i, c := range children {
		if i == len(children)-1 {
			t.node(c, stem+"└─ ", stem+"   ")
		} else {
			t.node(c, stem+"├─ ", stem+"│  ")
		}
	}
}

// heading is the name of a node with its workloads, then what is the matter with it.
func (t *treeScreen) heading(n *admission.TreeNode, branch, below string) {
	name, kind := clean(n.Name), ""
	if !n.Queue {
		kind = "COHORT "
		if n.Implicit {
			name += " (no Cohort object)"
		}
	}
	head := branch + t.s.paint(heading, kind+name) + "  "
	var summary []string
	if t.keeps(n) {
		summary = t.summary(n)
	}
	t.hang(head, below+spaces(max(4, 4+width(branch)-width(below))), summary)
	if !t.keeps(n) {
		return
	}
	indent := below + spaces(4+width(branch)-width(below))
	if n.Inactive != "" {
		t.hang(indent+t.s.paint(bad, "✗ takes no workloads: "), indent+"  ", strings.Fields(n.Inactive))
	}
	if n.Cyclic && !n.Queue {
		t.hang(indent+t.s.paint(bad, "✗ "), indent+"  ", strings.Fields("the cohort is its own ancestor, or below "+
			"one that is; Kueue leaves it alone"))
	}
	for _, text := range t.differences(n) {
		t.hang(indent+t.s.paint(waiting, "! "), indent+"  ", strings.Fields(text))
	}
}

// hang writes pieces, wrapped between them, behind a label, the lines after the first behind another one.
func (t *treeScreen) hang(label, next string, pieces []string) {
	lines := wrapPieces(pieces, " ", "", t.s.Width-max(width(label), width(next)))
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		if i == 0 {
			t.s.line(label, clean(l))
			continue
		}
		t.s.line(next, clean(l))
	}
}

// summary counts the workloads, in pieces to wrap between.
func (t *treeScreen) summary(n *admission.TreeNode) []string {
	var facts [][]string
	say := func(format string, values ...any) { facts = append(facts, []string{fmt.Sprintf(format, values...)}) }
	c := n.Counts
	if n.Known {
		say("%d admitted", c.Admitted)
		if only := c.Reserved - c.Admitted; only > 0 {
			say("%d with quota reserved only", only)
		}
	}
	switch {
	case c.Waiting > 0 && len(n.Demand) > 0:
		amounts := t.units.amounts(n.Demand)
		amounts[0] = fmt.Sprintf("%d waiting for %s", c.Waiting, amounts[0])
		for i := range amounts[:len(amounts)-1] {
			amounts[i] += ","
		}
		if c.Unknown > 0 {
			amounts = append(amounts, fmt.Sprintf("and what can't be told of %d of them", c.Unknown))
		}
		facts = append(facts, amounts)
	case c.Waiting > 0 || n.Known:
		say("%d waiting", c.Waiting)
	}
	if c.Refused > 0 {
		say("%d inadmissible or held back", c.Refused)
	}
	if t.trees.FairSharing && n.Known && n.Parent != nil {
		say("share %s, weight %g", shareText(n), n.Weight)
	}
	if n.Queue && n.Object.Spec.QueueingStrategy == kueue.StrictFIFO {
		say("StrictFIFO")
	}
	var out []string
	for i, pieces := range facts {
		if i < len(facts)-1 {
			pieces[len(pieces)-1] += " ·"
		}
		out = append(out, pieces...)
	}
	return out
}

func shareText(n *admission.TreeNode) string {
	if n.Share.Weight == 0 && n.Share.Ratio != 0 {
		return "infinite"
	}
	return fmt.Sprint(weighted(n))
}

func (t *treeScreen) accounts(n *admission.TreeNode, below string) {
	indent := below + spaces(accountIndent-width(below))
	at := accountIndent
	for _, w := range t.widths {
		at += w + gap
	}
	if !t.titled && len(n.Lines) > 0 {
		t.titled = true
		var cells []cell
		for _, title := range t.g.titles[:len(t.widths)] {
			cells = append(cells, cell{title, faint})
		}
		t.account(row{cells: cells}, indent, below, at)
	}
	for _, l := range byResource(n.Lines) {
		t.account(t.fitted(t.row(n, l)), indent, below, at)
	}
}

// accountIndent leaves room for three levels of branches.
const accountIndent = 9

func (t *treeScreen) account(r row, indent, below string, at int) {
	var b strings.Builder
	b.WriteString(indent)
	for i, c := range r.cells {
		pad := spaces(t.widths[i] - width(c.text))
		if t.g.right[i] {
			b.WriteString(pad)
			pad = ""
		}
		b.WriteString(t.s.paint(c.role, c.text))
		b.WriteString(pad)
		b.WriteString(spaces(gap))
	}
	lines := wrapIn(r.tail.pieces, r.tail.separator, "", t.s.Width-at)
	if len(lines) == 0 {
		lines = []string{""}
	}
	if slices.ContainsFunc(lines, func(l string) bool { return width(l) > t.s.Width-at }) {
		t.s.line(b.String())
		at = accountIndent + 2*gap
		lines = append([]string{""}, wrapPieces(r.tail.pieces, r.tail.separator, "", t.s.Width-at)...)
	} else {
		t.s.line(b.String(), t.s.paint(r.tail.role, lines[0]))
	}
	for _, l := range lines[1:] {
		t.s.line(below, spaces(at-width(below)), t.s.paint(r.tail.role, l))
	}
}

func (t *treeScreen) row(n *admission.TreeNode, l *admission.TreeLine) row {
	a := t.Queues.account(n, l)
	r := row{cells: []cell{
		plainCell(a.Resource), plainCell(a.Flavor), t.bar(n,
			l), unknownIfEmpty(a.Reserved), {text: t.limit(l, l.Total)}, unknownIfEmpty(t.free(n, l)),
	}}
	if t.s.Wide {
		r.cells = append(r.cells, unknownIfEmpty(a.Admitted), cell{text: t.limit(l, l.Maximum)})
	}
	r.tail = flow{pieces: t.remarks(n, l, a), separator: " · "}
	if l.Borrowed > 0 && n.Known {
		r.tail.role = waiting
	}
	return r
}

// fitted is the row with the columns that have room, and the others in front of its remarks.
func (t *treeScreen) fitted(r row) row {
	if t.barless {
		r.cells = slices.Delete(r.cells, barColumn, barColumn+1)
	}
	r.tail.pieces = append(t.g.fold(&r, len(t.widths)), r.tail.pieces...)
	return r
}

func (t *treeScreen) limit(l *admission.TreeLine, v quota.Amount) string {
	if v == quota.Unlimited {
		return "unlimited"
	}
	return t.units.Format(l.Resource, int64(v))
}

func (t *treeScreen) free(n *admission.TreeNode, l *admission.TreeLine) string {
	if !root(n).Known {
		return ""
	}
	return t.limit(l, l.Available)
}

// remarks are what the columns do not say of an account.
func (t *treeScreen) remarks(n *admission.TreeNode, l *admission.TreeLine, a QuotaAccount) []string {
	var out []string
	add := func(when bool, format string, v string) {
		if when {
			out = append(out, fmt.Sprintf(format, v))
		}
	}
	add(n.Known && l.Borrowed > 0, "+%s borrowed", a.Borrowed)
	add(n.Known && n.Parent == nil && l.Reserved > l.Total, "over by %s",
		t.units.Format(l.Resource, int64(l.Reserved.Sub(l.Total))))
	add(n.Known && l.Reserved > l.Admitted, "%s only reserved",
		t.units.Format(l.Resource, int64(l.Reserved.Sub(l.Admitted))))
	if root(n).Known && l.LentAtMost > 0 {
		switch l.Lent {
		case l.LentAtMost:
			add(true, "%s lent", a.Lent)
		case 0:
			add(true, "up to %s lent", a.LentAtMost)
		default:
			add(true, "%s lent", a.Lent+" to "+a.LentAtMost)
		}
	}
	add(n.Queue && root(n).Known && l.Spare > l.Lent, "%s lendable", t.limit(l, l.Spare.Sub(l.Lent)))
	add(a.BorrowingLimit != "", "borrows at most %s", a.BorrowingLimit)
	add(a.LendingLimit != "", "lends at most %s", a.LendingLimit)
	add(!n.Queue && l.Nominal > 0, "%s of it the cohort's own", a.Nominal)
	add(!l.Sets && n.Queue, "the queue has no quota for it%s", "")
	return out
}

const barWidth = 10

// bar shows how much of the quota is admitted and how much only reserved. Nothing used is no cell, something at least
// one.
func (t *treeScreen) bar(n *admission.TreeNode, l *admission.TreeLine) cell {
	if !n.Known || l.Total <= 0 && l.Reserved <= 0 {
		return cell{spaces(barWidth), normal}
	}
	cells := func(v quota.Amount) int {
		switch {
		case v <= 0:
			return 0
		case v >= l.Total:
			return barWidth
		}
		return min(barWidth-1, max(1, int(float64(v)/float64(l.Total)*barWidth+0.5)))
	}
	used, admitted := cells(l.Reserved), min(cells(l.Admitted), cells(l.Reserved))
	r := good
	if l.Reserved >= l.Total {
		r = waiting
	}
	return cell{strings.Repeat("█", admitted) + strings.Repeat("▓", used-admitted) + strings.Repeat("░", barWidth-used),
		r}
}
