package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// fault is a group of findings of one rule with one cause.
type fault struct {
	lead lint.Finding
	// others follow from the same cause.
	others []lint.Finding
}

// faults groups findings, in the order of the first of each group. The one that stands at the cause leads.
func faults(findings []lint.Finding) []*fault {
	type key struct{ rule, cause string }
	var out []*fault
	known := map[key]*fault{}
	for _, f := range findings {
		k := key{f.Rule.ID, f.Cause.String() + "\x00" + f.Cause.Path + f.Cause.Object.String()}
		group := known[k]
		switch {
		case group == nil || f.Cause.IsZero() || f.At.Compare(group.lead.At) == 0: // two things about one field are two
			group = &fault{lead: f}
			known[k] = group
			out = append(out, group)
		case f.Cause.Compare(f.At) == 0 && group.lead.Cause.Compare(group.lead.At) != 0:
			group.others = append([]lint.Finding{group.lead}, group.others...)
			group.lead = f
		default:
			group.others = append(group.others, f)
		}
	}
	return out
}

// severityRoles colour the severities; the word is always there.
var severityRoles = map[lint.Severity]role{lint.Error: bad, lint.Warning: waiting, lint.Info: heading}

// Draw implements [Document]: findings as a compiler shows them.
func (d *Findings) Draw(s *Screen) {
	explained := map[string]bool{}
	for _, f := range faults(d.result.Findings) {
		d.fault(s, f, !explained[f.lead.Rule.ID])
		explained[f.lead.Rule.ID] = true
		s.line()
	}
	d.summary(s)
}

// fault draws a group; why tells to say why the rule exists.
func (d *Findings) fault(s *Screen, f *fault, why bool) {
	lead := f.lead
	label := fmt.Sprintf("%s[%s] ", lead.Severity, lead.Rule.ID)
	for i, l := range wrapWords(clean(lead.Message), s.Width-width(label)) {
		if i == 0 {
			s.line(s.paint(severityRoles[lead.Severity], strings.TrimSpace(label)), " ", l)
			continue
		}
		s.line(spaces(width(label)), l)
	}
	frames := []lint.Location{lead.At}
	for _, l := range lead.Related {
		if len(frames) < maxFrames {
			frames = append(frames, l)
		}
	}
	gutter := gutterOf(frames)
	for i, l := range frames {
		s.frame(l, gutter, i == 0)
	}
	pad := spaces(gutter + 1)
	if why {
		s.paragraph(pad+"= why: ", lead.Rule.Doc.Why)
	}
	if lead.Help != "" {
		s.paragraph(pad+"= help: ", lead.Help)
	}
	if len(f.others) > 0 {
		s.paragraph(pad+"= affects: ", affected(f.others))
	}
	if why {
		s.line(s.paint(faint, pad+"= explain the rule: kubectl gpu-quota rules explain "+explainArgs(lead.Rule)))
	}
}

const (
	// maxFrames bounds the places shown for one finding, maxAffected the objects named.
	maxFrames   = 4
	maxAffected = 8
)

func affected(findings []lint.Finding) string {
	var names []string
	for _, f := range findings {
		name := f.At.Object.String()
		if f.At.File != "" {
			name += " (" + f.At.String() + ")"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - maxAffected; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxAffected], ", "), more)
	}
	return strings.Join(names, ", ")
}

// gutterOf is the width of the largest line number.
func gutterOf(frames []lint.Location) int {
	widest := 1
	for _, l := range frames {
		widest = max(widest, len(fmt.Sprint(l.Line)))
	}
	return widest
}

// frame shows the line of a place with a mark under the field. first tells the place of the finding itself.
func (s *Screen) frame(l lint.Location, gutter int, first bool) {
	pad, arrow, mark, color := spaces(gutter), "--> ", "^", bad
	if !first {
		arrow, mark, color = "::: ", "-", faint
	}
	place := l.String()
	if l.File == "" {
		if label := cleanJoin(l.Value, l.Label); label != "" {
			place += " (" + label + ")"
		}
		s.line(s.paint(faint, pad+arrow), clean(place))
		return
	}
	s.line(s.paint(faint, pad+arrow), clean(place))
	text, ok := l.Text(l.Line)
	if !ok || l.Column < 1 || l.Column-1 > len(text) {
		return
	}
	shown, start, length := s.window(text, l, s.Width-gutter-4)
	s.line(s.paint(faint, pad+" |"))
	s.line(s.paint(faint, fmt.Sprintf("%*d | ", gutter, l.Line)), shown)
	label := ""
	if l.Label != "" {
		label = " " + clean(l.Label)
	}
	s.line(s.paint(faint, pad+" | "), spaces(start), s.paint(color, strings.Repeat(mark, length)+label))
	if first {
		s.line(s.paint(faint, pad+" |"))
	}
}

func cleanJoin(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// window cuts a line to a number of columns around the marked part, and tells where the mark goes.
func (s *Screen) window(text string, l lint.Location, columns int) (shown string, start, length int) {
	end := len(text)
	if l.EndLine == l.Line && l.EndColumn-1 <= len(text) {
		end = l.EndColumn - 1
	}
	before, marked, after := expand(text[:l.Column-1]), expand(text[l.Column-1:max(end,
		l.Column-1)]), expand(text[max(end, l.Column-1):])
	if width(before)+width(marked)+width(after) > columns {
		if cut := []rune(before); len(cut) > columns/3 {
			before = "…" + string(cut[len(cut)-columns/3+1:])
		}
		if cut, room := []rune(marked), max(columns-width(before), columns/2); len(cut) > room {
			marked = string(cut[:room-1]) + "…"
		}
		if cut, room := []rune(after), columns-width(before)-width(marked); len(cut) > room {
			after = string(cut[:max(room-1, 0)]) + "…"
		}
	}
	return before + marked + after, width(before), max(width(marked), 1)
}

// expand makes a part of a line safe and gives every tab two columns.
func expand(text string) string { return clean(strings.ReplaceAll(text, "\t", "  ")) }

func (d *Findings) summary(s *Screen) {
	r := d.result
	counts := []string{}
	for _, c := range []struct {
		severity lint.Severity
		word     string
	}{{lint.Error, "error"}, {lint.Warning, "warning"}, {lint.Info, "remark"}} {
		if n := r.Count(c.severity); n > 0 {
			counts = append(counts, countOf(n, c.word))
		}
	}
	if len(counts) == 0 {
		counts = append(counts, "no findings")
	}
	text := fmt.Sprintf("%s in %s (%s)", strings.Join(counts, ", "), countOf(r.Files, "file"),
		countOf(r.Objects, "object"))
	if d.result.Files == 0 {
		text = fmt.Sprintf("%s in %s", strings.Join(counts, ", "), countOf(r.Objects, "object"))
	}
	if n := len(r.Suppressed); n > 0 {
		text += fmt.Sprintf(" · %d suppressed", n)
	}
	s.remark(normal, "", text)
	if n := len(r.Unevaluated); n > 0 {
		s.remark(faint, countOf(n, "rule")+" not evaluated: ", strings.Join(unevaluated(r.Unevaluated), " · "))
	}
}

// unevaluated lists the rules by what they lack.
func unevaluated(rules []lint.Unevaluated) []string {
	of := map[string][]string{}
	var order []string
	for _, u := range rules {
		lacks := strings.Join(u.Missing, ", ")
		if of[lacks] == nil {
			order = append(order, lacks)
		}
		of[lacks] = append(of[lacks], u.Rule.ID)
	}
	var parts []string
	for _, lacks := range order {
		parts = append(parts, fmt.Sprintf("%s (no %s in the input)", strings.Join(of[lacks], ", "), lacks))
	}
	return parts
}

func countOf(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// explainArgs are the arguments that explain a rule: one of a pack is explained from its file.
func explainArgs(r *lint.Rule) string {
	switch {
	case r.Pack == "":
		return r.ID
	case strings.ContainsAny(r.Pack, " '\"$&;()*?[]|<>\\`~#"):
		return r.ID + " --rules '" + strings.ReplaceAll(r.Pack, "'", `'\''`) + "'"
	}
	return r.ID + " --rules " + r.Pack
}
