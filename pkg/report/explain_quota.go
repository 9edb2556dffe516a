package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// binds says in a sentence what is too small, for the flavor that comes closest.
func (d *Explanations) binds(s *Screen, x *explain.Explanation) {
	for _, b := range explain.Closest(x.Binding) {
		f := func(v quota.Amount) string { return d.units.quota(b.Resource, v) }
		asks := b.Before.Add(b.Requested)
		needs, short := f(asks), " — "+f(b.Short)+" short"
		if b.Over {
			short = " — " + f(b.Short) + " too much"
		}
		if asks == quota.Unlimited { // how much is short can't be told
			needs, short = d.units.Format(b.Resource, int64(asks))+" (the most that can be counted)", ""
		}
		text := fmt.Sprintf("%s: needs %s, only %s is free in flavor %s%s.", b.Resource, needs, f(b.Available),
			b.Flavor, short)
		if b.Over {
			text = fmt.Sprintf("%s: needs %s, but flavor %s can never give this queue more than %s%s.", b.Resource,
				needs, b.Flavor, f(b.Maximum), short)
		}
		s.paragraph("", text)
	}
	victims(s, x)
	if x.Predicted.Why != "" && x.Charge.Verdict == charge.Charged {
		s.paragraph("", asSentence(x.Predicted.Why))
	}
}

// turnedDown says what Kueue would write about a workload that it turns down before it looks at any flavor.
func turnedDown(s *Screen, x *explain.Explanation) {
	d := x.Predicted
	if x.Reported.State != explain.None || d.State != explain.Pending || d.Why != "" || len(d.Attempts) > 0 ||
		d.Message == "" {
		return
	}
	s.paragraph("Kueue would say  ", d.Message)
	for _, other := range d.Possible {
		if other != d.Message {
			s.paragraph("or               ", other)
		}
	}
}

// victims names whom the next attempt preempts.
func victims(s *Screen, x *explain.Explanation) {
	const most = 5
	ts := x.Predicted.Targets
	if len(ts) == 0 {
		return
	}
	var names []string
	for _, t := range ts[:min(most, len(ts))] {
		names = append(names, clean(victim(x.Charge, x.Charge.ClusterQueue, t)))
	}
	text := strings.Join(names, ", ")
	if more := len(ts) - most; more > 0 {
		text += fmt.Sprintf(", and %d more (-o json lists all)", more)
	}
	if x.Predicted.Why != "" { // chance decides; the reason says between whom
		text += ", or others"
	}
	s.paragraph("", "It would preempt "+text+".")
}

func asSentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

func (d *Explanations) quota(s *Screen, x *explain.Explanation) {
	if len(x.Quota) == 0 || x.Charge.Verdict != charge.Charged {
		return
	}
	s.line()
	in := "ClusterQueue " + clean(x.Charge.ClusterQueue)
	if x.Cohort != "" {
		in += " · cohort " + clean(x.Cohort)
	}
	s.title("QUOTA", in)
	titles := []string{"RESOURCE", "FLAVOR", "REQUEST", "USED", "NOMINAL", "FREE", ""}
	borrows := slices.ContainsFunc(x.Quota, func(l explain.QuotaLine) bool { return l.BorrowingLimit != nil })
	shares := x.Cohort != "" && slices.ContainsFunc(x.Quota, func(l explain.QuotaLine) bool { return l.Live })
	if borrows {
		titles = slices.Insert(titles, len(titles)-1, "BORROW LIMIT")
	}
	if shares {
		titles = slices.Insert(titles, len(titles)-1, "AVAILABLE", "MAXIMUM")
	}
	g := grid{indent: 4, below: 6, titles: titles,
		right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}}
	lines := slices.Clone(x.Quota)
	slices.SortStableFunc(lines, func(a, b explain.QuotaLine) int { return compareResources(a.Resource, b.Resource) })
	for _, l := range lines {
		q := newQuotaLine(l, d.units)
		r := row{
			cells: []cell{plainCell(q.Resource), dash(q.Flavor), {text: q.Requested}, unknownIfEmpty(q.Used),
				unknownIfEmpty(q.Nominal), unknownIfEmpty(q.Free)},
			tail: quotaMark(l, q, x.Cohort),
		}
		if borrows {
			r.cells = append(r.cells, dash(q.BorrowingLimit))
		}
		if shares {
			r.cells = append(r.cells, unknownIfEmpty(q.Available), unknownIfEmpty(q.Maximum))
		}
		g.add(r)
	}
	g.draw(s)
}

func unknownIfEmpty(text string) cell {
	if text == "" {
		return cell{"?", faint}
	}
	return cell{text: text}
}

// quotaMark says whether what is there suffices. Where the usage of other queues is not in the input, it speaks of the
// queue's own quota only.
func quotaMark(l explain.QuotaLine, q QuotaLine, cohort string) flow {
	mark := func(r role, text string) flow { return flow{pieces: []string{text}, role: r} }
	switch {
	case l.Flavor == "":
		return mark(bad, "✗ not covered by the queue")
	case l.Holds:
		return mark(good, "✓ holds it")
	case l.Live && quota.Amount(l.Requested) > l.Maximum:
		return mark(bad, "✗ more than its maximum")
	case l.Live && l.Short > 0:
		return mark(bad, "✗ short by "+q.Short)
	case l.Live && l.Requested > l.Free:
		return mark(good, "✓ by borrowing")
	case l.Live:
		return mark(good, "✓")
	case l.Short > 0 && cohort != "":
		return mark(waiting, "? short by "+q.Short+" unless it borrows")
	case l.Short > 0:
		return mark(bad, "✗ short by "+q.Short)
	case !l.UsedKnown:
		return mark(faint, "? usage not in the input")
	case cohort != "":
		return mark(normal, "• within nominal")
	}
	return mark(good, "✓")
}

// flavors lists those tried, where it is not plain from the quota alone which was taken and why.
func (d *Explanations) flavors(s *Screen, x *explain.Explanation) {
	attempts := x.Predicted.Attempts
	if len(attempts) == 0 || len(attempts) == 1 && len(attempts[0].Lines) > 0 {
		return // the quota above says it all
	}
	s.section("FLAVORS TRIED", "in the order of the ClusterQueue")
	several := slices.ContainsFunc(attempts, func(at admission.Attempt) bool { return at.PodSet != attempts[0].PodSet })
	for _, at := range attempts {
		look, text := attemptLook(at)
		label := "  " + s.paint(look.role, look.mark) + " " + clean(at.Flavor) + "  "
		if several {
			label = "  " + s.paint(look.role, look.mark) + " " + clean(at.PodSet) + " in " + clean(at.Flavor) + "  "
		}
		s.paragraph(label, text)
	}
}

func attemptLook(at admission.Attempt) (look, string) {
	reasons := strings.Join(at.Reasons, ", ")
	switch {
	case at.Mode == admission.Fit && at.Borrow > 0:
		return look{"✓", good}, "fits by borrowing"
	case at.Mode == admission.Fit:
		return look{"✓", good}, "fits"
	case at.Mode == admission.NeedsPreemption && at.NoCandidates:
		return look{"✗", bad}, reasons + "; preemption would be allowed, but there is nobody to preempt"
	case at.Mode == admission.NeedsPreemption:
		return look{"•", waiting}, reasons + "; others would be preempted"
	}
	return look{"✗", bad}, reasons
}

const mostHolders = 8

// holders lists who has what is short.
func (d *Explanations) holders(s *Screen, x *explain.Explanation) {
	groups := map[quota.FlavorResource][]admission.Holder{}
	var order []quota.FlavorResource
	for _, h := range x.Holders {
		if groups[h.FlavorResource] == nil {
			order = append(order, h.FlavorResource)
		}
		groups[h.FlavorResource] = append(groups[h.FlavorResource], h)
	}
	for _, fr := range order {
		s.section("HELD BY", fmt.Sprintf("%s in %s", clean(string(fr.Resource)), clean(fr.Flavor)))
		g := grid{indent: 4, below: 6,
			titles: []string{"WORKLOAD", "QUEUE", "AMOUNT", "PRIORITY", "SINCE",
				"PREEMPTIBLE"}, labelled: true, right: map[int]bool{2: true, 3: true}}
		var rest quota.Amount
		for i, h := range groups[fr] {
			if i >= mostHolders && !s.Wide {
				rest = rest.Add(h.Quantity)
				continue
			}
			g.add(d.holder(s, h))
		}
		g.draw(s)
		if n := len(groups[fr]) - mostHolders; n > 0 && !s.Wide {
			s.line(fmt.Sprintf("    … %d more, %s", n, d.units.quota(fr.Resource, rest)))
		}
	}
}

func (d *Explanations) holder(s *Screen, h admission.Holder) row {
	since := "?"
	switch {
	case h.Since.IsZero():
	case s.Now.IsZero() || h.Since.After(s.Now):
		since = h.Since.UTC().Format("2006-01-02 15:04")
	default:
		since = duration.HumanDuration(s.Now.Sub(h.Since)) + " ago"
	}
	tail := flow{pieces: []string{"yes"}, role: waiting}
	switch {
	case h.Evicted:
		tail = flow{pieces: []string{"is being evicted"}, role: waiting}
	case !h.Preemptible:
		tail = words("no: " + h.WhyNot)
	}
	return row{
		cells: []cell{plainCell(h.Charge.Workload.Namespace + "/" + jobName(h.Charge)), plainCell(h.ClusterQueue),
			{text: d.units.quota(h.FlavorResource.Resource,
				h.Quantity)}, {text: fmt.Sprint(h.Priority)}, {text: since}},
		tail: tail,
	}
}

// jobName is the job's name, or that of a Workload without job.
func jobName(c *charge.Charge) string {
	if c.Workload.OwnerRef.IsZero() {
		return c.Workload.Name
	}
	return c.Workload.OwnerRef.Name
}

const mostAhead = 5

func (d *Explanations) position(s *Screen, x *explain.Explanation) {
	p := x.Position
	if p == nil || len(p.Ahead) == 0 {
		return
	}
	s.line()
	s.title("BEFORE IT IN THE QUEUE", queueOrder(p))
	for i, c := range p.Ahead {
		if i == mostAhead && !s.Wide {
			s.line(fmt.Sprintf("    … %d more", len(p.Ahead)-mostAhead))
			break
		}
		s.paragraph("    ",
			fmt.Sprintf("%s/%s   priority %d   %s", c.Workload.Namespace, jobName(c), c.Workload.Priority,
				strings.Join(d.units.amounts(c.Total), ", ")))
	}
	if !p.Certain {
		s.paragraph("    ", "The order is not certain: "+p.Why+".")
	}
}

// queueOrder says by what the workloads of a queue are ordered.
func queueOrder(p *admission.Position) string {
	order := "higher priority, then earlier"
	if p.ByUsage {
		order = "what the LocalQueue used lately, then higher priority, then earlier"
	}
	if p.Strict {
		order += "; StrictFIFO: nothing passes the first"
	}
	return order
}

func (d *Explanations) remedies(s *Screen, x *explain.Explanation) {
	if len(x.Remedies) == 0 && !x.Untried {
		return
	}
	s.section("WHAT WOULD ADMIT IT", "each tried by running admission again with the change")
	drawRemedies(s, x.Remedies)
	if x.Untried {
		s.paragraph("     ", "Not all changes were tried, for so many workloads. Explain this one alone to have them "+
			"tried.")
	}
}

func drawRemedies(s *Screen, remedies []explain.Remedy) {
	for i, r := range remedies {
		text := r.Action
		if r.Effect != "" {
			text += " (" + r.Effect + ")"
		}
		s.paragraph(fmt.Sprintf("  %d  ", i+1), text)
		if r.Patch != "" {
			for _, l := range strings.Split(r.Patch, "\n") {
				s.line("       ", clean(l))
			}
		}
	}
}
