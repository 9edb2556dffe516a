package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Draw implements [Document]: a table of the charges, with the reason under each that is refused or unknown.
func (d *Charges) Draw(s *Screen) {
	if len(d.charges) == 0 {
		s.line("No workloads found.")
		drawKueue(s, d.conf)
		return
	}
	shown, hidden := d.shown(s.Wide)
	namespaces := d.severalNamespaces()
	g := grid{titles: []string{"WORKLOAD", "QUEUE", "PODS", "VERDICT", "CHARGE"}}
	if s.Wide {
		g.titles = slices.Insert(g.titles, 2, "CLUSTERQUEUE")
	}
	indent := gap
	if namespaces {
		g.titles = slices.Insert(g.titles, 0, "NAMESPACE")
		for _, c := range shown {
			indent = max(indent, width(subject(c).Namespace)+gap)
		}
		indent = max(indent, len("NAMESPACE")+gap)
	}
	g.below = indent
	g.right = map[int]bool{slices.Index(g.titles, "PODS"): true}
	for _, c := range shown {
		g.add(d.row(s, c, namespaces, indent))
	}
	g.draw(s)
	s.line()
	d.summary(s, shown)
	if hidden > 0 {
		s.remark(faint, "", fmt.Sprintf("not shown: %d of the kinds Pod, Deployment, StatefulSet that do not ask for "+
			"Kueue (-o wide shows them)", hidden))
	}
	drawKueue(s, d.conf)
}

// HideServices leaves plain pods and services out of the table when they do not ask for Kueue: most of a cluster is
// such.
func (d *Charges) HideServices(hide bool) { d.hideServices = hide }

// services are the kinds that mostly are no jobs.
var services = map[string]bool{cluster.Pod.Kind: true, cluster.Deployment.Kind: true, cluster.StatefulSet.Kind: true,
	cluster.ReplicaSet.Kind: true}

// shown are the charges of the table, and the number left out. A table is never left empty.
func (d *Charges) shown(wide bool) (shown []*charge.Charge, hidden int) {
	if wide || !d.hideServices {
		return d.charges, 0
	}
	for _, c := range d.charges {
		w := c.Workload
		if w != nil && w.State == workload.Unmanaged && w.Queue == "" && services[w.OwnerRef.Kind] {
			hidden++
			continue
		}
		shown = append(shown, c)
	}
	if len(shown) == 0 {
		return d.charges, 0
	}
	return shown, hidden
}

// ShowNamespaces makes the table name the namespace even when all charges are of one.
func (d *Charges) ShowNamespaces(show bool) { d.namespaces = show }

func (d *Charges) severalNamespaces() bool {
	if d.namespaces {
		return true
	}
	first := subject(d.charges[0]).Namespace
	return slices.ContainsFunc(d.charges, func(c *charge.Charge) bool { return subject(c).Namespace != first })
}

func (d *Charges) row(s *Screen, c *charge.Charge, namespace bool, indent int) row {
	shown := verdictLooks[c.Verdict]
	r := row{cells: make([]cell, 0, 6)}
	if namespace {
		r.cells = append(r.cells, plainCell(subject(c).Namespace))
	}
	queue := ""
	if c.Workload != nil {
		queue = c.Workload.Queue
	}
	r.cells = append(r.cells, plainCell(shortName(c)), dash(queue))
	if s.Wide {
		r.cells = append(r.cells, dash(c.ClusterQueue))
	}
	count := "-"
	if len(c.PodSets) > 0 {
		count = strconv.FormatInt(pods(c), 10)
	}
	r.cells = append(r.cells, cell{text: count}, cell{shown.mark + " " + string(c.Verdict), shown.role})
	switch c.Verdict {
	case charge.Charged:
		r.tail = flow{pieces: d.units.amounts(c.Total), separator: ", "}
	case charge.Unknown:
		r.tail = flow{pieces: []string{"?"}, role: faint, placeholder: true}
	default:
		r.tail = flow{pieces: []string{"-"}, role: faint, placeholder: true}
	}
	r.under = d.notes(s, c, indent)
	return r
}

func dash(text string) cell {
	if text == "" {
		return cell{"-", faint}
	}
	return plainCell(text)
}

// notes are the lines under a row: why it is refused or unknown and, on a wide screen, how every number came about.
func (d *Charges) notes(s *Screen, c *charge.Charge, indent int) []note {
	var out []note
	add := func(f flow, r role) {
		f.role = r
		out = append(out, note{flow: f, indent: indent})
	}
	plainlyUnmanaged := c.Verdict == charge.Unmanaged && c.Workload != nil && c.Workload.State == workload.Unmanaged
	if !plainlyUnmanaged || s.Wide {
		for _, text := range why(c) {
			add(words(text), verdictLooks[c.Verdict].role)
		}
	}
	if !s.Wide {
		return out
	}
	for _, ps := range c.PodSets {
		for _, l := range byRank(ps.Lines) {
			out = append(out, d.derivation(s, c, ps, l, indent)...)
		}
	}
	for _, p := range c.Problems {
		if p.KueueMessage != "" {
			add(words("Kueue writes "+p.KueueMessage), faint)
		}
	}
	for _, text := range c.Notes {
		add(words("note: "+text), faint)
	}
	return out
}

// derivation is one addend: `gpu.memory 4864Mi × 3 = 14592Mi (job.yaml:14)  claim gpu → …`, on one line or,
// when that is too long, with the way to the number below.
func (d *Charges) derivation(s *Screen, c *charge.Charge, ps charge.PodSet, l charge.Line, indent int) []note {
	head := fmt.Sprintf("%s %s × %d = %s", clean(string(l.Resource)),
		d.units.Format(l.Resource, l.PerPod), ps.Count, d.units.Format(l.Resource, l.Total))
	if len(c.PodSets) > 1 {
		head = clean(ps.Name) + ": " + head
	}
	if where := firstPlace(l.Evidence); where != "" {
		head += " (" + where + ")"
	}
	steps := hops(l)
	if one := head + "  " + strings.Join(steps, " → "); width(one) <= s.Width-indent-markWidth {
		return []note{{flow: flow{pieces: []string{one}}, indent: indent}}
	}
	return []note{
		{flow: words(head), indent: indent},
		{flow: flow{pieces: steps, separator: " → ", lead: "→ "}, indent: indent + 2, unmarked: true},
	}
}

// byRank sorts the addends of a pod set for people.
func byRank(lines []charge.Line) []charge.Line {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(a, b charge.Line) int { return compareResources(a.Resource, b.Resource) })
	return out
}

// hops are the steps from the request to the number.
func hops(l charge.Line) []string {
	if len(l.Derivation) == 0 {
		return []string{string(l.Method)}
	}
	out := make([]string, 0, len(l.Derivation))
	for _, step := range l.Derivation {
		out = append(out, clean(step))
	}
	return out
}

func firstPlace(facts []charge.Evidence) string {
	for _, f := range facts {
		if file, line := place(f.ReadFrom(), f.Path); file != "" {
			return fmt.Sprintf("%s:%d", clean(file), line)
		}
	}
	return ""
}

// verdictOrder is the order of the summary.
var verdictOrder = []charge.Verdict{charge.Charged, charge.Inadmissible, charge.Unmanaged, charge.Unknown}

// summary counts the verdicts and adds up what accelerators are charged in.
func (d *Charges) summary(s *Screen, shown []*charge.Charge) {
	if len(shown) < 2 {
		return
	}
	counts := map[charge.Verdict]int{}
	sums := charge.Amounts{}
	for _, c := range shown {
		counts[c.Verdict]++
		if c.Verdict != charge.Charged {
			continue
		}
		for name, amount := range c.Total {
			if rank(name) == 0 {
				sums[name] = charge.Add(sums[name], amount)
			}
		}
	}
	var parts []string
	for _, v := range verdictOrder {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(string(v))))
		}
	}
	head := fmt.Sprintf("%d workloads: %s", len(shown), strings.Join(parts, ", "))
	totals := d.units.amounts(sums)
	if len(totals) > 0 {
		totals[0] = "together " + totals[0]
	}
	lines := wrapPieces(totals, ", ", "", s.Width-2)
	if len(lines) == 1 && width(head)+width(" · ")+width(lines[0]) <= s.Width {
		s.line(s.paint(heading, head), " · ", lines[0])
		return
	}
	s.paragraphIn("", 0, heading, head)
	for _, l := range lines {
		s.line("  ", l)
	}
}
