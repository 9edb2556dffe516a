// What conditions may say where a scan of flavors begins anew by chance.

package admission

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// say writes the QuotaReserved condition.
func (r *run) say(n *nominee, reason string) {
	it := n.it
	all := make([]string, len(n.messages))
	for i, m := range n.messages {
		all[i] = m + n.suffix
	}
	if len(it.said) > 0 && it.said[0].epoch != r.epoch {
		it.said = it.said[:0]
	}
	before := append(slices.Clip(it.possible), it.message)
	if r.behavior.PreserveScanProgress {
		it.trail = all
	} else {
		it.forgets = it.message != n.message()
		other := r.otherwise(it, before, all)
		all = append(all, r.furtherOn(it, it.last)...)
		all = append(all, it.otherwise.messages(r, it)...)
		it.trail, it.otherwise = n.follow(it.trail, all, len(it.said) > 0), other
	}
	it.reason, it.message, it.possible, it.company = reason, n.message(), nil, false
	if len(it.trail) > 1 {
		it.possible = it.trail
	}
	if r.mayGoUnwritten(n) {
		it.possible = distinct(append([]string{it.message}, it.possible...), before)
	}
	it.said = append(it.said, remark{r.epoch, n.from, all})
}

// mayGoUnwritten: of a resource that the queue does not cover, Kueue writes a fine reason when it comes first in the
// arbitrary order. When another comes first, and fits, the reason is empty, the API server refuses the condition, and what
// was there before stays.
func (r *run) mayGoUnwritten(n *nominee) bool {
	return r.behavior.GranularReasons && r.behavior.ResourceOrder == release.GoMap &&
		slices.ContainsFunc(n.assignment.sets, func(s setAssignment) bool { return s.uncovered && len(s.requests) > 1 })
}

// furtherOn is what the workload would be told if its scan over flavors went on from there. Versions that do not keep the
// progress of a scan lose it with any event about the workload, such as a new message, unless the next attempt has
// begun by then.
func (r *run) furtherOn(it *item, from *progress) []string {
	if !from.pending() {
		return nil
	}
	return r.scan(it, from)
}

// scan is what the workload would be told by attempts from there on.
func (r *run) scan(it *item, from *progress) []string {
	saved := it.last
	defer func() { it.last = saved }()
	it.last = from
	var out []string
	for range it.attempts() {
		a, ts := r.attempt(it, nil)
		if a.mode() == Fit || len(ts) > 0 {
			break
		}
		out = append(out, a.messages()...)
		if it.last = a.last; !it.last.pending() {
			break
		}
	}
	return out
}

// beginning is where the next attempt may begin instead, if chance makes a message another, or the same as before.
type beginning struct {
	possible bool
	from     *progress
}

// otherwise is where the next attempt begins if chance decides otherwise whether the workload's message is new: a new one is
// an event, with which the progress of the scan is lost.
func (r *run) otherwise(it *item, before, messages []string) beginning {
	if r.behavior.ResourceOrder != release.GoMap || !it.last.pending() {
		return beginning{}
	}
	if it.forgets { // the message may be the same all the same
		return beginning{slices.ContainsFunc(messages, func(m string) bool { return slices.Contains(before, m) }), it.last}
	}
	return beginning{possible: len(messages) > 1 || len(distinct(before, nil)) > 1}
}

func (b beginning) messages(r *run, it *item) []string {
	if !b.possible {
		return nil
	}
	return r.scan(it, b.from)
}

// remark is what a workload was told by an attempt that began where from says.
type remark struct {
	epoch    int
	from     string
	messages []string
}

// byTurns: a workload that is tried for ever, from one flavor and then from another, is told one thing and then the
// other.
func (it *item) byTurns(epoch int) {
	start := slices.IndexFunc(it.said, func(m remark) bool { return m.epoch == epoch && m.from == it.last.start() })
	if start < 0 {
		return
	}
	var all []string
	for _, m := range it.said[start:] {
		all = append(all, m.messages...)
		it.turning = it.turning || m.from != it.last.start()
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 1 {
		it.possible = all
	}
}

// behindALoop is why nothing is told of a workload that waits behind one that is tried for ever.
const behindALoop = "a workload before it in its queue is tried again and again, and in this version of Kueue chance decides when that one steps aside"

// doubtBehind: where a BestEffortFIFO queue comes to rest with a head whose scan over flavors goes round, the head keeps its
// place for ever only in versions that repeat the scan exactly. In others the arbitrary order of resources, or an event that
// comes late, lets it out some time, and those behind it are tried.
func (r *run) doubtBehind() {
	if r.halted || r.behavior.PreserveScanProgress && r.behavior.ResourceOrder != release.GoMap {
		return
	}
	for _, name := range r.names {
		q := r.queues[name]
		head := q.line.head()
		if q.strict || q.inactive != "" || r.stuck(q) || head == nil || head == q.line.sticky {
			continue
		}
		for _, it := range r.items {
			if it != head && it.queue == q && it.place == queued && it.doubt == "" {
				it.doubt = behindALoop
			}
		}
	}
}

// follow adds to what earlier attempts of the same scan of flavors, or in the same state of the cluster, said. Versions
// that drop the progress of a scan whenever something moves in the queue may stop at any of them.
func (n *nominee) follow(trail, all []string, again bool) []string {
	if n.resumed || again {
		return distinct(all, trail)
	}
	return distinct(all, nil)
}

// distinct texts of both, in their order.
func distinct(a, b []string) []string {
	var out []string
	for _, m := range slices.Concat(a, b) {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// forget lets the scan over flavors begin anew after an event, in versions in which it does.
func (r *run) forget(it *item) {
	if it.forgets {
		it.last = nil
	}
	it.forgets = false
}

// bypass tells a parked workload, where the version does, that an equal one has failed.
func (r *run) bypass(it *item, reason string) {
	if it.company {
		// Its victims' quota came back piece by piece, and it may have been tried in between.
		it.possible = []string{it.message, message.Of(message.NoLongerFits).Text()}
	}
	if !r.behavior.BypassMessage {
		return
	}
	if it.message == "" && !r.gate(release.UnadmittedWorkloadsExplicitStatus) {
		return
	}
	switch it.reason {
	case "", reasonPending, reasonPendingEvaluation, reasonDeactivated, reasonSuspended:
		it.reason, it.message, it.possible = reason, message.Of(message.Bypassed).Text(), nil
	}
}

// stamp tells a workload that was told nothing yet, where the version does, that its turn is to come.
func (r *run) stamp(it *item) {
	if it.message == "" && r.behavior.GranularReasons && r.gate(release.UnadmittedWorkloadsExplicitStatus) {
		it.reason, it.message = reasonPendingEvaluation, message.Of(message.PendingEvaluation).Text()
	}
}

// bypassSelf: the controller looks at workloads with devices anew after each attempt, has forgotten what their condition
// said, and finds their own shape barred. Where an arbitrary order decides the reason, it may do so to others.
func (r *run) bypassSelf(n *nominee) {
	if !r.behavior.BypassMessage || !r.gate(release.UnadmittedWorkloadsExplicitStatus) {
		return
	}
	it := n.it
	switch {
	case it.devices:
		it.message, it.possible = message.Of(message.Bypassed).Text(), nil
	case r.behavior.ResourceOrder == release.GoMap && slices.ContainsFunc(n.assignment.sets, func(s setAssignment) bool { return s.uncovered }):
		it.possible = append([]string{it.message, message.Of(message.Bypassed).Text()}, it.possible...)
	}
}
