package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
)

// Draw implements [Document]: one screen per workload.
func (d *Explanations) Draw(s *Screen) {
	if len(d.items) == 0 {
		s.line("No workloads found.")
	}
	for i, x := range d.items {
		if i > 0 {
			s.line()
			s.line(s.paint(faint, strings.Repeat("·", 40)))
			s.line()
		}
		d.explanation(s, x)
	}
	s.line()
	drawKueue(s, d.conf)
}

func (d *Explanations) explanation(s *Screen, x *explain.Explanation) {
	d.head(s, x)
	d.problems(s, x.Charge)
	d.charge(s, x.Charge)
	d.quota(s, x)
	d.flavors(s, x)
	d.devices(s, x)
	d.holders(s, x)
	d.position(s, x)
	d.remedies(s, x)
	d.reported(s, x)
	if s.Wide {
		d.steps(s, x)
	}
}

func (d *Explanations) head(s *Screen, x *explain.Explanation) {
	v := headline(x, s.Now)
	name := clean(fullName(x.Charge))
	verb := " " + v.verb + " "
	if v.verb == "" {
		verb = ": "
	}
	for i, l := range wrapWords(name+verb+v.word+clean(v.rest), s.Width) {
		if i > 0 {
			l = "  " + l
		}
		s.line(strings.Replace(l, v.word, s.paint(v.role, v.word), 1))
	}
	if x.Charge.Verdict != charge.Inadmissible && x.Charge.Verdict != charge.Unknown && x.Charge.Workload != nil {
		for _, r := range x.Charge.Workload.Reasons {
			s.paragraph("  ", r.Text)
		}
	}
	waits := x.Reported.State == explain.Pending || x.Reported.State == explain.None ||
		x.Reported.State == explain.Evicted
	if !waits {
		return
	}
	d.binds(s, x)
	turnedDown(s, x)
	if leadsWithReport(x) {
		for _, m := range x.Reported.Meaning {
			s.paragraph("", "Kueue found: "+m)
		}
	}
}

// leadsWithReport tells that what Kueue last reported is the best answer to why the workload waits: there
// is no constraint that is certain from the objects.
func leadsWithReport(x *explain.Explanation) bool {
	return x.Reported.State == explain.Pending && x.Predicted.State == explain.Unknown &&
		x.Charge.Verdict == charge.Charged
}

// problems says what is wrong, with the fields that show it.
func (d *Explanations) problems(s *Screen, c *charge.Charge) {
	for _, p := range c.Problems {
		mark := verdictLooks[c.Verdict]
		text := p.Message
		if text == "" {
			text = p.KueueMessage
		}
		s.paragraph(s.paint(mark.role, mark.mark)+" ", text)
		d.facts(s, p.Evidence)
		if p.KueueMessage != "" && p.KueueMessage != text {
			s.paragraph("    Kueue writes  ", p.KueueMessage)
		}
		for _, other := range p.Possible {
			if other != p.KueueMessage {
				s.paragraph("    or            ", other)
			}
		}
	}
	d.missing(s, c)
	if c.Verdict == charge.Unknown && len(c.Published) > 0 {
		s.paragraph("  reported  ", "charged "+strings.Join(published(c), ", ")+" at its admission (Workload status)")
	}
}

// exportCommands print what an export lacks, for the kinds a charge depends on.
var exportCommands = map[string]string{
	"Configuration":         "kubectl get configmap kueue-manager-config -n kueue-system -o yaml",
	"DeviceClass":           "kubectl get deviceclasses -o yaml",
	"ResourceSlice":         "kubectl get resourceslices -o yaml",
	"ResourceClaimTemplate": "kubectl get resourceclaimtemplates -A -o yaml",
	"LocalQueue":            "kubectl get localqueues -A -o yaml",
	"ClusterQueue":          "kubectl get clusterqueues -o yaml",
	"LimitRange":            "kubectl get limitranges -A -o yaml",
	"RuntimeClass":          "kubectl get runtimeclasses -o yaml",
	"Namespace":             "kubectl get namespaces -o yaml",
}

// missing says which kinds the answer needs, and how to get them.
func (d *Explanations) missing(s *Screen, c *charge.Charge) {
	if c.Verdict != charge.Unknown {
		return
	}
	label := "  missing   "
	for _, kind := range c.Missing {
		text := kind + ": none in the input"
		if command := exportCommands[kind]; command != "" {
			text += "; get it with: " + command
		}
		s.paragraph(label, text)
		label = spaces(width(label))
	}
}

func published(c *charge.Charge) []string {
	order := charge.Amounts{}
	for name := range c.Published {
		order[name] = 0
	}
	var out []string
	for _, name := range ordered(order) {
		out = append(out, string(name)+" "+c.Published[name])
	}
	return out
}

// facts lists fields with the place they were read from.
func (d *Explanations) facts(s *Screen, facts []charge.Evidence) {
	if len(facts) == 0 {
		return
	}
	places := make([]string, len(facts))
	column := 0
	for i, f := range facts {
		ref := f.Subject()
		if file, line := place(f.ReadFrom(), f.Path); file != "" {
			places[i] = fmt.Sprintf("%s:%d", clean(file), line)
		}
		if places[i] == "" {
			places[i] = clean(ref.String())
		}
		if w := width(places[i]); w <= maxPlace {
			column = max(column, w)
		}
	}
	for i, f := range facts {
		text := f.Path
		if f.Value != "" {
			text += ": " + f.Value
		}
		label := "    " + places[i] + spaces(column-width(places[i])) + "  "
		if width(places[i]) > maxPlace {
			s.line(label)
			label = spaces(8)
		}
		s.paragraph(label, text)
	}
}

// maxPlace is the widest file name that text stands beside.
const maxPlace = 28

func (d *Explanations) charge(s *Screen, c *charge.Charge) {
	if c.Verdict == charge.Unmanaged || len(c.PodSets) == 0 {
		return
	}
	if !slices.ContainsFunc(c.PodSets, func(ps charge.PodSet) bool { return len(ps.Lines) > 0 }) {
		return
	}
	s.line()
	remark := ""
	switch c.Verdict {
	case charge.Inadmissible:
		remark = "(what can be told; nothing is charged while it is refused)"
	case charge.Unknown:
		remark = "(the part that is known)"
	}
	s.paragraphIn(s.paint(heading, "CHARGE")+"  ", len("CHARGE")+2, heading, remark)
	for _, ps := range c.PodSets {
		s.line("  pod set ", clean(ps.Name), fmt.Sprintf(" × %d", ps.Count))
		d.podSet(s, ps)
	}
	if len(c.PodSets) > 1 && c.Verdict == charge.Charged {
		s.paragraph("  total     ", strings.Join(d.units.amounts(c.Total), ", "))
	}
	for _, n := range c.Notes {
		s.paragraph("  note      ", n)
	}
}

func (d *Explanations) podSet(s *Screen, ps charge.PodSet) {
	g := grid{indent: 4, below: 6, titles: []string{"RESOURCE", "PER POD", "TOTAL", "HOW"},
		right: map[int]bool{1: true, 2: true}}
	for _, l := range byRank(ps.Lines) {
		r := row{
			cells: []cell{plainCell(string(l.Resource)), {text: d.units.Format(l.Resource, l.PerPod)},
				{text: d.units.Format(l.Resource, l.Total)}},
			tail: flow{pieces: hops(l), separator: " → ", lead: "→ "},
		}
		if where := firstPlace(l.Evidence); where != "" && s.Wide {
			r.tail.pieces[len(r.tail.pieces)-1] += " (" + where + ")"
		}
		g.add(r)
	}
	g.draw(s)
}

// reported quotes Kueue and puts it into plain words.
func (d *Explanations) reported(s *Screen, x *explain.Explanation) {
	r := x.Reported
	if r.State == explain.None && len(x.Inconsistencies) == 0 {
		return
	}
	s.line()
	if r.Condition != "" {
		text := fmt.Sprintf("%s=%s (%s)%s", r.Condition, r.Status, r.Reason, ago(r.Since, s.Now))
		if r.Message != "" {
			text += ": " + r.Message
		}
		s.paragraph(s.paint(heading, "Kueue says")+"  ", text)
		if x.Agrees != nil && *x.Agrees && len(x.Inconsistencies) == 0 {
			s.line("            ", s.paint(good, "✓"), " agrees with the objects now")
		}
	}
	for i, m := range r.Meaning {
		if leadsWithReport(x) {
			break // said above
		}
		label := "that is     "
		if i > 0 {
			label = "            "
		}
		s.paragraph(label, m)
	}
	for _, text := range x.Inconsistencies {
		s.paragraph("            "+s.paint(waiting, "! "), text)
	}
}

var resultLooks = map[explain.Result]look{
	explain.Pass: {"✓", good}, explain.Fail: {"✗", bad}, explain.Unclear: {"?", faint}, explain.Info: {"•", normal},
}

func (d *Explanations) steps(s *Screen, x *explain.Explanation) {
	s.line()
	s.line(s.paint(heading, "STEPS"))
	for _, step := range x.Steps {
		shown := resultLooks[step.Result]
		s.paragraph(fmt.Sprintf("  %s %-14s", s.paint(shown.role, shown.mark), step.Check), step.Detail)
		// The facts of the charge stand with its problems already.
		if step.Check != explain.CheckCharge {
			d.facts(s, step.Evidence)
		}
	}
}
