package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Draw implements [Document]: one screen per queue.
func (d *QueueExplanations) Draw(s *Screen) {
	if len(d.items) == 0 {
		s.line("No queues found.")
	}
	for i, q := range d.items {
		if i > 0 {
			s.line()
			s.line(s.paint(faint, strings.Repeat("·", 40)))
			s.line()
		}
		d.head(s, q)
		d.usage(s, q)
		d.local(s, q)
		d.pending(s, q)
		d.outside(s, q)
		d.opening(s, q)
		d.first(s, q)
		d.reported(s, q)
	}
	s.line()
	drawKueue(s, d.conf)
}

var queueLooks = map[explain.QueueVerdict]struct {
	word string
	role role
}{
	explain.QueueActive: {"ACTIVE", good}, explain.QueueInactive: {"INACTIVE", bad}, explain.QueueUnknown: {"UNKNOWN",
		faint},
}

// head is the verdict, and what follows from it for those that run and wait.
func (d *QueueExplanations) head(s *Screen, q *explain.Queue) {
	shown := queueLooks[q.Verdict]
	text := clean(q.Ref.String()) + " is " + shown.word
	if q.Local != nil {
		text += " (leads to ClusterQueue " + clean(q.ClusterQueue) + ")"
	}
	if q.Why != "" {
		text += ": " + clean(q.Why)
	}
	for i, l := range wrapWords(text, s.Width) {
		if i > 0 {
			l = "  " + l
		}
		s.line(strings.Replace(l, shown.word, s.paint(shown.role, shown.word), 1))
	}
	s.paragraph("  ", strings.Join(d.counts(q), " · "))
	for _, of := range []struct {
		kind   string
		policy kueue.StopPolicy
	}{{q.Ref.Kind, q.StopPolicy}, {"ClusterQueue", q.ClusterQueueStopPolicy}} {
		if text := stopText(of.policy); text != "" {
			s.paragraph("  ", "spec.stopPolicy of the "+of.kind+" is "+string(of.policy)+": "+text)
		}
		if q.Local == nil {
			break
		}
	}
	if n := len(q.Leaving); n > 0 {
		s.paragraph("  "+s.paint(waiting, "! "), plural(n, "workload")+" lose"+third(n)+" the quota that "+holds(n)+
			": "+someNames(q.Leaving))
	}
}

func third(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

func holds(n int) string {
	if n == 1 {
		return "it holds"
	}
	return "they hold"
}

// stopText says what a stop policy does.
func stopText(p kueue.StopPolicy) string {
	switch p {
	case kueue.Hold:
		return "no workload is admitted; those admitted run on"
	case kueue.HoldAndDrain:
		return "no workload is admitted, and those that run are evicted"
	}
	return ""
}

func someNames(all []*charge.Charge) string {
	const most = 5
	var names []string
	for i, c := range all {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		names = append(names, c.Workload.Namespace+"/"+jobName(c))
	}
	return joined(names)
}

// counts sums the queue up in a line.
func (d *QueueExplanations) counts(q *explain.Queue) []string {
	var out []string
	if q.Local != nil && q.Known {
		out = append(out, fmt.Sprintf("%d admitted", q.Local.Admitted))
	}
	if n := q.Tree; n != nil && q.Local == nil {
		if n.Known {
			out = append(out, fmt.Sprintf("%d admitted", n.Counts.Admitted))
		}
		if only := n.Counts.Reserved - n.Counts.Admitted; n.Known && only > 0 {
			out = append(out, fmt.Sprintf("%d with quota reserved only", only))
		}
	}
	if q.Known {
		out = append(out, fmt.Sprintf("%d waiting", q.PendingTotal))
		if q.OutsideTotal > 0 {
			out = append(out, fmt.Sprintf("%d outside of the queue", q.OutsideTotal))
		}
	} else if q.Reported != nil {
		out = append(out,
			fmt.Sprintf("%d waiting by its status; not all Workloads are in the input", q.ReportedPending))
	} else {
		out = append(out, "who waits is not known: not all Workloads are in the input")
	}
	if n := q.Tree; n != nil {
		if cohort := string(n.Object.Spec.CohortName); cohort != "" {
			out = append(out, "cohort "+clean(cohort))
		}
		strategy := n.Object.Spec.QueueingStrategy
		if strategy == "" {
			strategy = kueue.BestEffortFIFO
		}
		out = append(out, string(strategy))
	}
	return out
}

// usage is the quota of the ClusterQueue, as `queues` shows it.
func (d *QueueExplanations) usage(s *Screen, q *explain.Queue) {
	if q.Tree == nil || len(q.Tree.Lines) == 0 {
		return
	}
	s.line()
	from := "ClusterQueue " + clean(q.ClusterQueue)
	switch d.trees.Usage {
	case admission.FromStatus:
		from += " · by its status: the Workloads are not in the input"
	case admission.FromNothing:
		from += " · usage is not known: the input holds no Workloads, and no status"
	}
	s.title("USAGE", from)
	t := &treeScreen{Queues: d.queues(), s: s}
	g := t.newGrid()
	g.indent, g.below = 4, 6
	for _, l := range byResource(q.Tree.Lines) {
		g.add(t.row(q.Tree, l))
	}
	g.draw(s)
}

// local is what the workloads of a LocalQueue hold.
func (d *QueueExplanations) local(s *Screen, q *explain.Queue) {
	if q.Local == nil || !q.Known || len(q.Local.Usage) == 0 {
		return
	}
	s.section("OF THIS", "what the workloads of "+clean(q.Ref.String())+" hold")
	g := grid{indent: 4, below: 6, titles: []string{"RESOURCE", "FLAVOR", "USED", ""}, right: map[int]bool{2: true}}
	keys := q.Local.Usage.Sorted()
	slices.SortStableFunc(keys, func(a, b quota.FlavorResource) int { return compareResources(a.Resource, b.Resource) })
	for _, fr := range keys {
		g.add(row{cells: []cell{plainCell(string(fr.Resource)), plainCell(fr.Flavor),
			{text: d.units.quota(fr.Resource, q.Local.Usage[fr])}}})
	}
	g.draw(s)
}

// pending is the line of those that stand in the queue.
func (d *QueueExplanations) pending(s *Screen, q *explain.Queue) {
	if len(q.Pending) == 0 {
		return
	}
	s.line()
	title, order := "PENDING", queueOrder(cmp.Or(q.Pending[0].Position, &admission.Position{}))
	if !q.Known {
		title, order = "PERHAPS PENDING", "not all Workloads are in the input: these may as well be admitted"
	}
	s.title(title, order)
	d.table(s, q, q.Pending, q.PendingTotal)
	if p := q.Pending[0].Position; q.Known && p != nil && !p.Certain {
		s.paragraph("    ", "The order is not certain: "+p.Why+".")
	}
}

// outside are those that wait without standing in the queue.
func (d *QueueExplanations) outside(s *Screen, q *explain.Queue) {
	if len(q.Outside) == 0 {
		return
	}
	s.section("OUTSIDE OF THE QUEUE", "refused or held back, in the order in which they would stand")
	d.table(s, q, q.Outside, q.OutsideTotal)
}

func (d *QueueExplanations) table(s *Screen, q *explain.Queue, list []explain.Waiting, total int) {
	g := grid{indent: 4, below: 9,
		titles: []string{"#", "WORKLOAD", "LOCALQUEUE", "PRIORITY", "CHARGE",
			"NEXT ATTEMPT"}, right: map[int]bool{0: true, 3: true}}
	if q.Local != nil {
		g.titles = slices.Delete(g.titles, 2, 3)
		g.right = map[int]bool{0: true, 2: true}
	}
	for _, w := range list {
		c := w.Charge
		at := "-"
		switch {
		case w.Position != nil && !w.Position.Certain:
			at = "?"
		case w.Position != nil:
			at = fmt.Sprint(w.Position.ClusterQueue)
		}
		r := row{cells: []cell{{text: at}, plainCell(c.Workload.Namespace + "/" + jobName(c) + replica(c.Workload))},
			tail: words(d.summary(w))}
		if q.Local == nil {
			r.cells = append(r.cells, plainCell(c.Workload.Queue))
		}
		r.cells = append(r.cells, cell{text: fmt.Sprint(c.Workload.Priority)}, d.charged(c))
		switch w.Decision.State {
		case explain.Admitted, explain.QuotaReserved:
			r.tail.role = good
		case explain.Preempts:
			r.tail.role = waiting
		case explain.Unknown:
			r.tail.role = faint
		}
		g.add(r)
	}
	g.draw(s)
	if more := total - len(list); more > 0 {
		s.line(fmt.Sprintf("    … %d more", more))
	}
}

// charged is what matters most of a charge.
func (d *QueueExplanations) charged(c *charge.Charge) cell {
	amounts := d.units.amounts(c.Total)
	// What a queue does not take for reasons of its own costs what it would cost.
	refused := slices.ContainsFunc(c.Problems, func(p charge.Problem) bool { return p.Code != charge.CodeQueueBlocked })
	switch {
	case c.Verdict == charge.Unknown, c.Verdict == charge.Inadmissible && refused:
		return cell{"?", faint}
	case len(amounts) == 0:
		return cell{text: "nothing"}
	}
	return cell{text: amounts[0]}
}

// opening says what would make the queue active.
func (d *QueueExplanations) opening(s *Screen, q *explain.Queue) {
	if len(q.Opening) == 0 {
		return
	}
	s.section("WHAT WOULD OPEN IT", "each tried")
	drawRemedies(s, q.Opening)
}

// first says what the head of the queue waits for.
func (d *QueueExplanations) first(s *Screen, q *explain.Queue) {
	x := q.Head
	if x == nil {
		return
	}
	e := &Explanations{conf: d.conf, units: d.units}
	s.line()
	v := headline(x, s.Now)
	title := "WHAT THE FIRST WAITS FOR"
	if served := x.Predicted.State; served == explain.Admitted || served == explain.QuotaReserved ||
		served == explain.Preempts {
		title = "THE FIRST"
	}
	s.title(title, clean(fullName(x.Charge))+" "+v.verb+" "+v.word)
	if ahead := aheadOf(x); q.Local != nil && ahead > 0 {
		s.paragraph("  ", plural(ahead, "workload")+" of other LocalQueues stand"+third(ahead)+
			" before it in ClusterQueue "+q.ClusterQueue)
	}
	s.indented(2, func(s *Screen) {
		switch x.Predicted.State {
		case explain.Admitted, explain.QuotaReserved, explain.Preempts:
			s.paragraph("", "It "+d.summary(explain.Waiting{Charge: x.Charge, Decision: x.Predicted})+".")
		case explain.Unknown:
			s.paragraph("", "What would be decided is "+
				d.summary(explain.Waiting{Charge: x.Charge, Decision: x.Predicted})+".")
		}
		e.binds(s, x)
		if len(x.Binding) == 0 && x.Predicted.State == explain.Pending && x.Predicted.Why == "" {
			s.paragraph("", "Kueue would say: "+x.Predicted.Message)
		}
	})
	e.holders(s, x)
	if len(x.Remedies) > 0 {
		e.remedies(s, &explain.Explanation{Charge: x.Charge, Remedies: x.Remedies[:1]})
		if n := len(x.Remedies) - 1; n > 0 {
			s.paragraph("     ", plural(n, "other way")+": explain "+strings.ToLower(subject(x.Charge).Kind)+"/"+
				subject(x.Charge).Name+" -n "+x.Charge.Workload.Namespace)
		}
	}
}

func aheadOf(x *explain.Explanation) int {
	if x.Position == nil {
		return 0
	}
	return len(x.Position.Ahead)
}

// reported sets Kueue's condition beside the one it would write now.
func (d *QueueExplanations) reported(s *Screen, q *explain.Queue) {
	s.line()
	if r := q.Reported; r != nil {
		s.paragraph(s.paint(heading, "Kueue says")+"  ",
			fmt.Sprintf("%s=%s (%s)%s: %s", r.Type, r.Status, r.Reason, ago(r.LastTransitionTime.Time, s.Now),
				r.Message))
	} else {
		s.paragraph(s.paint(heading, "Kueue says")+"  ", "nothing: the input holds no condition of the queue")
	}
	p := q.Predicted
	switch {
	case q.Agrees != nil && *q.Agrees:
		s.line("            ", s.paint(good, "✓"), " agrees with the objects now")
	case p.Status == metav1.ConditionUnknown:
		s.paragraph("            ", "? what it would write for the objects now is not known: not in the input: "+
			joined(p.Missing))
	case p.Message != "":
		s.paragraph("            ",
			fmt.Sprintf("for the objects now it would write %s=%s (%s): %s", kueue.ClusterQueueActive, p.Status,
				p.Reason, p.Message))
	}
	for _, text := range q.Inconsistencies {
		s.paragraph("            "+s.paint(waiting, "! "), text)
	}
}
