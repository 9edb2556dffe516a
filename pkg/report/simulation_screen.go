package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

// Draw implements [Document]: what every cycle decides, then where every workload ends.
func (d *Simulation) Draw(s *Screen) {
	if d.head(s) {
		namespaces := d.severalNamespaces()
		d.timeline(s, namespaces)
		d.end(s, namespaces)
		s.line()
	}
	for _, text := range d.sim.Assumptions {
		s.remark(faint, "supposed: ", text)
	}
	if len(d.sim.Unknown) > 0 {
		s.remark(faint, "? ", "what can't be told of some workloads may change the outcome for others of their cohort")
	}
	drawKueue(s, d.conf)
}

func (d *Simulation) severalNamespaces() bool {
	first, several := "", false
	for o := range d.shown() {
		ns := subject(o.Charge).Namespace
		several = several || first != "" && ns != first
		first = ns
	}
	return several
}

// stateCounts is the order and the words of the first line.
var stateCounts = []struct {
	state admission.State
	text  string
}{
	{admission.Admitted, "admitted"}, {admission.QuotaReserved, "with quota reserved"}, {admission.Pending, "waiting"},
	{admission.Evicted, "evicted"}, {admission.Inadmissible, "inadmissible"}, {admission.Deactivated,
		"deactivated"}, {admission.Unknown, "unknown"},
}

// head says in a sentence what it comes to; false when there is nothing to tell of.
func (d *Simulation) head(s *Screen) bool {
	counts, fresh := map[admission.State]int{}, 0
	for o := range d.shown() {
		counts[o.State]++
		if o.Cycle > 0 {
			fresh++
		}
	}
	var parts []string
	for _, c := range stateCounts {
		n := counts[c.state]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, c.text)
		if c.state == admission.Admitted && !d.sim.Replay && fresh > 0 {
			text += fmt.Sprintf(" (%d of them anew)", fresh)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		s.line("No workloads found that Kueue manages and that have not ended.")
		return false
	}
	from := "From the present state"
	if d.sim.Replay {
		from = "From nothing, one arrival after the other"
	}
	s.paragraph("", fmt.Sprintf("%s, until nothing changes: %s.", from, strings.Join(parts, ", ")))
	return true
}

// decisionLooks are the marks of decisions.
var decisionLooks = map[admission.StepDecision]look{
	admission.Admit: {"✓", good}, admission.Preempt: {"!", waiting}, admission.Refuse: {"✗", bad}, admission.Skip: {"•",
		waiting},
}

// timeline lists the decisions. One that repeats what was decided about the workload before is left out, unless the
// screen is wide.
func (d *Simulation) timeline(s *Screen, namespaces bool) {
	g := grid{titles: []string{"CYCLE", "QUEUE", "WORKLOAD", "DECISION", "DETAIL"}, right: map[int]bool{0: true},
		below: 2 * gap}
	if namespaces {
		g.titles = slices.Insert(g.titles, 2, "NAMESPACE")
	}
	said, repeats := map[*charge.Charge]string{}, 0
	for _, c := range d.sim.Timeline {
		number := strconv.Itoa(c.Number)
		for _, st := range c.Steps {
			if !d.shows(st.Charge) {
				continue
			}
			words := string(st.Decision) + st.Detail
			if said[st.Charge] == words && !s.Wide {
				repeats++
				continue
			}
			said[st.Charge] = words
			g.add(d.step(number, st, namespaces))
			number = ""
		}
	}
	s.line()
	if len(g.rows) == 0 {
		s.line(s.paint(heading, "TIMELINE"), "  nothing is tried")
		return
	}
	g.draw(s)
	if repeats > 0 {
		s.remark(faint, "", "not shown: "+counted(repeats, "decision")+
			" that only said again what an earlier one did (-o wide shows all)")
	}
}

func (d *Simulation) step(cycle string, st admission.Step, namespaces bool) row {
	shown := decisionLooks[st.Decision]
	r := row{cells: []cell{{text: cycle}, plainCell(st.ClusterQueue)}}
	if namespaces {
		r.cells = append(r.cells, plainCell(subject(st.Charge).Namespace))
	}
	r.cells = append(r.cells, plainCell(shortName(st.Charge)), cell{shown.mark + " " + string(st.Decision), shown.role})
	r.tail = words(inShort(st.Charge, st.Detail))
	if len(st.Targets) > 0 {
		r.tail.separator, r.tail.pieces = ", ", nil
		for _, t := range st.Targets {
			r.tail.pieces = append(r.tail.pieces, clean(victim(st.Charge, st.ClusterQueue, t)))
		}
		r.tail.pieces[0] = "evicts " + r.tail.pieces[0]
	}
	return r
}

// victim names a workload that is preempted for another of a ClusterQueue, with what tells it from others of the name,
// and why.
func victim(of *charge.Charge, clusterQueue string, t admission.Target) string {
	name := shortName(t.Charge)
	if ns := subject(t.Charge).Namespace; ns != subject(of).Namespace {
		name += " of " + ns
	}
	if t.ClusterQueue != clusterQueue {
		name += " in " + t.ClusterQueue
	}
	return name + " (" + t.Reason + ")"
}

// inShort leaves out of Kueue's message what goes without saying: which pod set, of one.
func inShort(c *charge.Charge, message string) string {
	if len(c.PodSets) == 1 {
		return strings.TrimPrefix(message, "couldn't assign flavors to pod set "+c.PodSets[0].Name+": ")
	}
	return message
}

// outcomeLooks are the marks of states; those without are shown on a wide screen only.
var outcomeLooks = map[admission.State]look{
	admission.Admitted: {"✓", good}, admission.QuotaReserved: {"✓", waiting}, admission.Pending: {"•",
		waiting}, admission.Evicted: {"!", waiting},
	admission.Inadmissible: {"✗", bad}, admission.Deactivated: {"•", faint}, admission.Unknown: {"?", faint},
}

// end lists the workloads queue by queue: those with quota in the order in which they got it, then those that wait in
// the order of the queue, then the others.
func (d *Simulation) end(s *Screen, namespaces bool) {
	var all []*admission.Outcome
	hidden := map[admission.State]int{}
	for o := range d.shown() {
		if _, ok := outcomeLooks[o.State]; !ok && !s.Wide {
			hidden[o.State]++
			continue
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b *admission.Outcome) int {
		return cmp.Or(cmp.Compare(a.ClusterQueue, b.ClusterQueue), cmp.Compare(turn(a), turn(b)),
			cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Position, b.Position))
	})
	g := grid{titles: []string{"QUEUE", "WORKLOAD", "STATE", "CYCLE", "QUOTA OR REASON"}, right: map[int]bool{3: true},
		below: 2 * gap}
	if namespaces {
		g.titles, g.right = slices.Insert(g.titles, 1, "NAMESPACE"), map[int]bool{4: true}
	}
	queue := "\x00"
	for _, o := range all {
		r := d.ending(o, namespaces)
		if o.ClusterQueue == queue {
			r.cells[0] = cell{}
		}
		queue = o.ClusterQueue
		g.add(r)
	}
	if len(g.rows) > 0 {
		s.line()
		g.draw(s)
	}
	var parts []string
	for _, of := range []struct {
		state admission.State
		text  string
	}{{admission.Finished, "finished"}, {admission.None, "without a Workload of their own"}} {
		if n := hidden[of.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.text))
		}
	}
	if len(parts) > 0 {
		s.remark(faint, "", "not shown: "+strings.Join(parts, ", ")+" (-o wide shows them)")
	}
}

// turn sorts those with quota before those that wait before the others.
func turn(o *admission.Outcome) int {
	switch {
	case len(o.PodSets) > 0:
		return 0
	case o.Position > 0:
		return 1
	}
	return 2
}

func (d *Simulation) ending(o *admission.Outcome, namespaces bool) row {
	r := row{cells: []cell{dash(o.ClusterQueue)}}
	if namespaces {
		r.cells = append(r.cells, plainCell(subject(o.Charge).Namespace))
	}
	shown, ok := outcomeLooks[o.State]
	if !ok {
		shown = look{"•", faint}
	}
	state := shown.mark + " " + string(o.State)
	if o.Position > 0 {
		state += " #" + strconv.Itoa(o.Position)
	}
	cycle := ""
	if o.Cycle > 0 {
		cycle = strconv.Itoa(o.Cycle)
	}
	r.cells = append(r.cells, plainCell(shortName(o.Charge)), cell{state, shown.role}, cell{text: cycle})
	switch {
	case len(o.PodSets) > 0:
		r.tail = flow{pieces: d.units.flavorsOf(o.PodSets), separator: ", "}
	case o.Why != "":
		r.tail = words(o.Why)
	case o.Message != "":
		r.tail = words(inShort(o.Charge, o.Message))
	default:
		r.tail = flow{pieces: []string{"-"}, role: faint, placeholder: true}
	}
	return r
}

// counted is `1 decision` or `2 decisions`.
func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
