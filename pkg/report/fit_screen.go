package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/fit"
)

// devices says whether the pods can get their devices.
func (d *Explanations) devices(s *Screen, x *explain.Explanation) {
	if x.Fit == nil {
		return
	}
	s.section("DEVICES", "can the pods get theirs now?")
	f := x.Fit
	switch {
	case f.Verdict == fit.NotNeeded:
		s.paragraph("    • ", f.Why)
		return
	case f.Verdict == fit.Unknown:
		text := f.Why
		if len(f.Missing) > 0 {
			text += " (not in the input: " + strings.Join(f.Missing, ", ") + ")"
		}
		s.paragraph(s.paint(faint, "    ? "), "unknown: "+text)
	case f.Verdict == fit.DoesNotFit && x.HasQuota():
		s.paragraph(s.paint(bad, "    ✗ "), "quota says yes, devices say no")
	case f.Verdict == fit.Fits && x.Reported.State == explain.Pending && !x.HasQuota():
		s.paragraph("    • ", "devices say yes, quota says no")
	}
	for _, ps := range f.PodSets {
		d.fitPodSet(s, f, ps)
	}
	notes := f.Supposed
	if s.Wide {
		notes = append(slices.Clone(fit.Assumptions), notes...)
	}
	for _, text := range notes {
		s.paragraph("    note: ", text)
	}
}

func (d *Explanations) fitPodSet(s *Screen, f *fit.Result, ps fit.PodSet) {
	if len(ps.Claims) == 0 && len(ps.Refusals) == 0 {
		return // asks for nothing
	}
	got, mark := ps.Holding+ps.Placed, look{"✓", good}
	text := fmt.Sprintf("pod set %s: all %s", ps.Name, countOf(ps.Count, "pod"))
	if ps.Count == 1 {
		text = "pod set " + ps.Name + ": its pod"
	}
	switch {
	case got < ps.Count:
		mark, text = look{"✗", bad}, fmt.Sprintf("pod set %s: %d of %s", ps.Name, got, countOf(ps.Count, "pod"))
		if f.Verdict != fit.DoesNotFit {
			mark = look{"?", faint}
		}
	case f.Verdict != fit.Fits:
		mark = look{"•", normal}
	}
	verb := " can get devices"
	if ps.Placed == 0 && ps.Holding == got && got > 0 {
		verb = " have devices"
		if ps.Count == 1 {
			verb = " has its devices"
		}
	} else if ps.Holding > 0 {
		verb += fmt.Sprintf(", %d of them have theirs", ps.Holding)
	}
	s.paragraph(s.paint(mark.role, "    "+mark.mark+" "), text+verb)
	d.placements(s, ps)
	if len(ps.Refusals) == 0 {
		return
	}
	g := grid{indent: 8, below: 10, titles: []string{"NODE", "WHY NO POD MORE"}}
	for _, r := range ps.Refusals {
		nodes := "(any)"
		switch {
		case len(r.Nodes) == 1:
			nodes = r.Nodes[0]
		case len(r.Nodes) > 1:
			nodes = fmt.Sprintf("%s and %d more", r.Nodes[0], len(r.Nodes)-1)
		}
		g.add(row{cells: []cell{plainCell(nodes)}, tail: words(refusalText(r, s.Wide))})
	}
	g.draw(s)
}

// refusalText names the claim where a pod has one, and who holds the devices.
func refusalText(r fit.Refusal, wide bool) string {
	text := r.Text
	if r.Claim != "" && r.Count != nil {
		subject := "claim " + r.Claim
		if r.Request != "" {
			subject += ", request " + r.Request
		}
		text = subject + ": " + text
	}
	const most = 3
	var held []string
	for i, ref := range r.HeldBy {
		if i == most && !wide {
			held = append(held, fmt.Sprintf("%d more", len(r.HeldBy)-most))
			break
		}
		held = append(held, ref.Namespace+"/"+ref.Name)
	}
	if len(held) > 0 {
		text += "; held by " + strings.Join(held, ", ")
	}
	return text
}

// placements lists the nodes with the devices the pods would get there; the same node stands once.
func (d *Explanations) placements(s *Screen, ps fit.PodSet) {
	var nodes []string
	devices, pods := map[string][]string{}, map[string]int{}
	for _, p := range ps.Placements {
		if !slices.Contains(nodes, p.Node) {
			nodes = append(nodes, p.Node)
		}
		pods[p.Node]++
		for _, x := range p.Devices {
			devices[p.Node] = append(devices[p.Node], x.Device)
		}
	}
	if len(nodes) == 0 {
		return
	}
	const most = 8
	g := grid{indent: 8, below: 10, titles: []string{"NODE", "PODS", "DEVICES"}, right: map[int]bool{1: true}}
	for i, n := range nodes {
		if i == most && !s.Wide {
			g.add(row{cells: []cell{{fmt.Sprintf("… %d more nodes", len(nodes)-most), faint}, {}}})
			break
		}
		names := devices[n]
		if len(names) > most && !s.Wide {
			names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
		}
		g.add(row{cells: []cell{plainCell(n), {text: number(int64(pods[n]))}},
			tail: flow{pieces: cleanAll(names), separator: ", "}})
	}
	g.draw(s)
}

func cleanAll(in []string) []string {
	out := make([]string, len(in))
	for i, text := range in {
		out[i] = clean(text)
	}
	return out
}
