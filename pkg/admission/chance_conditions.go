// What conditions may say where a scan of flavors begins anew by chance.

package admission

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// conditionHistory is what a workload's condition said, and may say next.
type conditionHistory struct {
	// attempts is what attempts wrote in the present epoch, one by one.
	attempts []attemptTexts
	// scanTexts is what attempts of the present scan of flavors said.
	scanTexts []string
	// alternating: it was tried by turns from several flavors when the scheduler last was at rest, and its scan has not
	// begun anew.
	alternating bool
	// evictedTogether: it was evicted together with others and not tried since.
	evictedTogether bool
	// losesPosition: an event is under way with which a version forgets where the scan stands.
	losesPosition bool
	// alternative is where its next attempt begins if chance has it so.
	alternative nextStart
}

// say writes the QuotaReserved condition.
func (r *run) say(n *entry, reason string) {
	wl := n.workload
	all := make([]string, len(n.messages))
	for i, m := range n.messages {
		all[i] = m + n.suffix
	}
	if len(wl.history.attempts) > 0 && wl.history.attempts[0].epoch != r.epoch {
		wl.history.attempts = wl.history.attempts[:0]
	}
	before := append(slices.Clip(wl.possible), wl.message)
	if r.behavior.PreserveScanProgress {
		wl.history.scanTexts = all
	} else {
		wl.history.losesPosition = wl.message != n.message()
		other := r.alternativeStart(wl, before, all)
		all = append(all, r.textsFurtherOn(wl, wl.position)...)
		all = append(all, wl.history.alternative.messages(r, wl)...)
		wl.history.scanTexts = n.withEarlierTexts(wl.history.scanTexts, all, len(wl.history.attempts) > 0)
		wl.history.alternative = other
	}
	wl.reason, wl.message, wl.possible, wl.history.evictedTogether = reason, n.message(), nil, false
	if len(wl.history.scanTexts) > 1 {
		wl.possible = wl.history.scanTexts
	}
	if r.mayGoUnwritten(n) {
		wl.possible = distinct(append([]string{wl.message}, wl.possible...), before)
	}
	wl.history.attempts = append(wl.history.attempts, attemptTexts{r.epoch, n.scanStart, all})
}

// mayGoUnwritten: of a resource that the queue does not cover, Kueue writes a fine reason when it comes first in the
// arbitrary order. When another comes first, and fits, the reason is empty, the API server refuses the condition, and
// what was there before stays.
func (r *run) mayGoUnwritten(n *entry) bool {
	return n.assignment != nil && r.behavior.GranularReasons && r.behavior.ResourceOrder == release.GoMap &&
		slices.ContainsFunc(n.assignment.sets,
			func(s podSetAssignment) bool { return s.uncovered && len(s.requests) > 1 })
}

// textsFurtherOn is what the condition would say if the scan over flavors went on from there. Versions that do not keep
// the position of a scan lose it with any event about the workload, such as a new message, unless the next attempt has
// begun by then.
func (r *run) textsFurtherOn(wl *schedulerWorkload, from *scanPosition) []string {
	if !from.pending() {
		return nil
	}
	return r.textsFrom(wl, from)
}

// textsFrom is what the condition would say after attempts from there on.
func (r *run) textsFrom(wl *schedulerWorkload, from *scanPosition) []string {
	saved := wl.position
	defer func() { wl.position = saved }()
	wl.position = from
	var out []string
	for range wl.attempts() {
		a, ts := r.attempt(wl, nil)
		if a.mode() == Fit || len(ts) > 0 {
			break
		}
		out = append(out, a.messages()...)
		if wl.position = a.last; !wl.position.pending() {
			break
		}
	}
	return out
}

// nextStart is where the next attempt may begin instead, if chance makes a message another, or the same as before.
type nextStart struct {
	possible bool
	position *scanPosition
}

// alternativeStart is where the next attempt begins if chance decides otherwise whether the workload's message is new:
// a new one is an event, with which the position of the scan is lost.
func (r *run) alternativeStart(wl *schedulerWorkload, before, messages []string) nextStart {
	if r.behavior.ResourceOrder != release.GoMap || !wl.position.pending() {
		return nextStart{}
	}
	if wl.history.losesPosition { // the message may be the same all the same
		return nextStart{
			slices.ContainsFunc(messages, func(m string) bool { return slices.Contains(before, m) }),
			wl.position,
		}
	}
	return nextStart{possible: len(messages) > 1 || len(distinct(before, nil)) > 1}
}

func (b nextStart) messages(r *run, wl *schedulerWorkload) []string {
	if !b.possible {
		return nil
	}
	return r.textsFrom(wl, b.position)
}

// attemptTexts is what an attempt wrote that began at scanStart.
type attemptTexts struct {
	epoch     int
	scanStart string
	messages  []string
}

// alternates: a workload that is tried for ever, from one flavor and then from another, has one text and then the
// other.
func (wl *schedulerWorkload) alternates(epoch int) {
	start := slices.IndexFunc(
		wl.history.attempts,
		func(m attemptTexts) bool { return m.epoch == epoch && m.scanStart == wl.position.start() },
	)
	if start < 0 {
		return
	}
	var all []string
	for _, m := range wl.history.attempts[start:] {
		all = append(all, m.messages...)
		wl.history.alternating = wl.history.alternating || m.scanStart != wl.position.start()
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 1 {
		wl.possible = all
	}
}

// behindRepeatedAttempts is why nothing is known of a workload that waits behind one that is tried for ever.
const behindRepeatedAttempts = "a workload before it in its queue is tried again and again, " +
	"and in this version of Kueue chance decides when that one steps aside"

// doubtBehindLoops: where a BestEffortFIFO queue comes to rest with a head whose scan over flavors goes round, the head
// keeps its place for ever only in versions that repeat the scan exactly. In others the arbitrary order of resources,
// or an event that comes late, lets it out some time, and those behind it are tried.
func (r *run) doubtBehindLoops() {
	if r.halted || r.behavior.PreserveScanProgress && r.behavior.ResourceOrder != release.GoMap {
		return
	}
	for _, name := range r.names {
		q := r.queues[name]
		head := q.pending.head()
		if q.strict || q.inactive != "" || r.loops(q) || head == nil || head == q.pending.sticky {
			continue
		}
		for _, wl := range r.workloads {
			if wl != head && wl.queue == q && wl.place == queued && wl.doubt == "" {
				wl.doubt = behindRepeatedAttempts
			}
		}
	}
}

// withEarlierTexts adds to what earlier attempts of the same scan of flavors, or in the same state of the cluster,
// said. Versions that drop the position of a scan whenever something moves in the queue may stop at any of them.
func (n *entry) withEarlierTexts(trail, all []string, again bool) []string {
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

// losePosition lets the scan over flavors begin anew after an event, in versions in which it does.
func (r *run) losePosition(wl *schedulerWorkload) {
	if wl.history.losesPosition {
		wl.position = nil
	}
	wl.history.losesPosition = false
}

// markBypassed writes, where the version does, into a workload set aside that an equal one has failed.
func (r *run) markBypassed(wl *schedulerWorkload, reason string) {
	if wl.history.evictedTogether {
		// Its victims' quota came back piece by piece, and it may have been tried in between.
		wl.possible = []string{wl.message, message.Of(message.NoLongerFits).Text()}
	}
	if !r.behavior.BypassMessage {
		return
	}
	if wl.message == "" && !r.gate(release.UnadmittedWorkloadsExplicitStatus) {
		return
	}
	switch wl.reason {
	case "", reasonPending, reasonPendingEvaluation, reasonDeactivated, reasonSuspended:
		wl.reason, wl.message, wl.possible = reason, message.Of(message.Bypassed).Text(), nil
	}
}

// markPendingEvaluation writes, where the version does, that a workload without a message is to be tried.
func (r *run) markPendingEvaluation(wl *schedulerWorkload) {
	if wl.message == "" && r.behavior.GranularReasons && r.gate(release.UnadmittedWorkloadsExplicitStatus) {
		wl.reason, wl.message = reasonPendingEvaluation, message.Of(message.PendingEvaluation).Text()
	}
}

// markSelfBypassed: the controller looks at workloads with devices anew after each attempt, has forgotten what their
// condition said, and finds their own hash known to fail. Where an arbitrary order decides the reason, it may do so to
// others.
func (r *run) markSelfBypassed(n *entry) {
	if !r.behavior.BypassMessage || !r.gate(release.UnadmittedWorkloadsExplicitStatus) {
		return
	}
	wl := n.workload
	switch {
	case wl.devices:
		wl.message, wl.possible = message.Of(message.Bypassed).Text(), nil
	case r.behavior.ResourceOrder == release.GoMap &&
		slices.ContainsFunc(n.assignment.sets, func(s podSetAssignment) bool { return s.uncovered }):
		wl.possible = append([]string{wl.message, message.Of(message.Bypassed).Text()}, wl.possible...)
	}
}
