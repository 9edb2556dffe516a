// What a simulation supposes where chance decides.

package admission

import (
	"fmt"
	"slices"
)

// noteChance notes where chance may have decided otherwise than the run goes on.
func (r *run) noteChance(n *entry) {
	if n.equalShares != nil {
		r.chances.note(
			n.workload.key + ": " + n.equalShares.cause() + ": " + n.equalShares.outcomes() +
				"; here the first is supposed",
		)
	}
	switch {
	case !n.resumed:
		n.workload.history.alternating = false
	case n.workload.history.alternating && n.wins():
		n.workload.history.alternating = false
		r.chances.note(
			n.workload.key + " was tried again and again by turns, from one flavor and then from another; " +
				"at which of them a change meets it is a matter of milliseconds, " +
				"and here it is as if changes came when the turns repeat themselves",
		)
	}
	if n.rival == nil || !n.skipped && n.assignment.forced == nil || n.workload.order.IsZero() {
		return
	}
	for o := n.rival; o != nil; o = o.rival {
		if o.wins() && o.workload.queue.node.Root() == n.workload.queue.node.Root() {
			r.chances.note(
				fmt.Sprintf(
					"%s and %s are alike in priority and time, and chance decides which of them Kueue takes first; "+
						"here it is %s",
					o.workload.key,
					n.workload.key,
					o.workload.key,
				),
			)
			return
		}
	}
}

// wins reports whether the entry got what it was assigned, or will once its victims are gone.
func (n *entry) wins() bool {
	return n.assumed || n.requeueReason == pendingPreemption && len(n.targets) > 0
}

// chances is what a simulation supposes where Kueue leaves something to chance.
type chances struct {
	// texts say what is supposed, each once.
	texts []string
	noted map[string]bool
	// endedScans are workloads whose scan of flavors ends by chance.
	endedScans map[*schedulerWorkload]bool
}

func newChances() chances {
	return chances{noted: map[string]bool{}, endedScans: map[*schedulerWorkload]bool{}}
}

func (c *chances) note(text string) {
	if !c.noted[text] {
		c.noted[text] = true
		c.texts = append(c.texts, text)
	}
}

// mostChances are shown; what comes after them hangs on them anyway.
const mostChances = 3

// assumptions are the sentences to show; of is all workloads in order.
func (c *chances) assumptions(of []*schedulerWorkload) []string {
	var out []string
	ended := slices.DeleteFunc(slices.Clone(of), func(wl *schedulerWorkload) bool { return !c.endedScans[wl] })
	if len(ended) > 0 {
		out = append(
			out,
			"this version of Kueue tries "+listed(ended)+" again and again until, by chance, it names the same "+
				"short resource time after time; that is supposed to happen before anything else changes",
		)
	}
	out = append(out, c.texts[:min(mostChances, len(c.texts))]...)
	if more := len(c.texts) - mostChances; more > 0 {
		out = append(out, fmt.Sprintf("%d more decisions hang on chance", more))
	}
	return out
}
