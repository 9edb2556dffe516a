// Whom to preempt: what both kinds of search share. Mirrors pkg/scheduler/preemption/preemption.go, its common package
// and preemption_oracle.go.

package admission

import (
	"cmp"
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// target is a workload that would be preempted, and why.
type target struct {
	workload *schedulerWorkload
	reason   string
}

// preemptionOracle is all that the assignment of flavors knows of preemption, as in Kueue's flavorassigner.
type preemptionOracle interface {
	// targets are whom a workload preempts to get what it wants, where keys need preemption; none where that does not
	// help.
	targets(wl *schedulerWorkload, keys []quota.FlavorResource, want quota.Usage) []target
	// possible says how well one flavor and resource alone could serve: whether anybody could be preempted, and how far
	// away the quota would then be borrowed from.
	possible(wl *schedulerWorkload, fr quota.FlavorResource, val quota.Amount) flavorScore
}

// preemption finds whom to preempt. It knows the trees of quota, who holds it, and policies; nothing of flavors, of
// what waits, and of cycles.
type preemption struct {
	queues map[string]*queue
	// strategies of fair sharing; none without it.
	strategies []strategy
	// withinNominal: a queue within its nominal quota needs no comparison of shares.
	withinNominal bool
	// buffer is how much later a candidate of equal priority must be queued.
	buffer time.Duration
	// localQueuesByKey: see the Behavior of that name.
	localQueuesByKey bool

	// removed are taken for gone, in a recomputation.
	removed map[*schedulerWorkload]bool
	// equalCohorts are cohorts between which the latest search had to choose; takeFirstOfEqual is the other choice.
	equalCohorts     *cohortPair
	takeFirstOfEqual bool
}

// newPreemption takes over what the version and the configuration say.
func newPreemption(s *scheduler) *preemption {
	p := &preemption{
		queues: s.queues, withinNominal: s.gate(release.FairSharingPreemptWithinNominal),
		localQueuesByKey: s.behavior.AFSLocalQueuesByKey,
	}
	if s.gate(release.SchedulerTimestampPreemptionBuffer) {
		p.buffer = timestampBuffer
	}
	if fs := s.conf.Configuration.FairSharing; fs != nil {
		p.strategies = strategiesOf(fs)
	}
	return p
}

// preemptionSearch is one question of preemption: who has to go so that a workload fits.
type preemptionSearch struct {
	*preemption
	preemptor *schedulerWorkload
	keys      []quota.FlavorResource // that need preemption
	want      quota.Usage            // all the workload asks for
	ids       []int                  // of keys, in the queue's tree
}

func (p *preemption) targets(wl *schedulerWorkload, keys []quota.FlavorResource, want quota.Usage) []target {
	q := &preemptionSearch{preemption: p, preemptor: wl, keys: keys, want: want, ids: wl.queue.node.IDs(keys)}
	if len(p.strategies) > 0 {
		return q.fairly()
	}
	return q.classically()
}

func (p *preemption) possible(wl *schedulerWorkload, fr quota.FlavorResource, val quota.Amount) flavorScore {
	found := p.targets(wl, []quota.FlavorResource{fr}, quota.Usage{fr: val})
	for _, t := range found {
		remove(t.workload)
	}
	height, _ := wl.queue.node.BorrowingHeight(fr, val)
	putBackAll(found)
	switch {
	case len(found) == 0:
		return flavorScore{noCandidates, height}
	case slices.ContainsFunc(found, func(t target) bool { return t.workload.held.queue == wl.queue }):
		return flavorScore{preempt, height}
	}
	return flavorScore{reclaim, height}
}

// fits reports whether all the workload asks for is available, within its queue's nominal quota unless it may borrow.
func (q *preemptionSearch) fits(borrow bool) bool {
	node := q.preemptor.queue.node
	for fr, v := range q.want {
		if !borrow && node.BorrowingWith(fr, v) || v > node.Available(fr) {
			return false
		}
	}
	return true
}

// shortfall is what is lacking of each thing asked for, borrowing included, in the tree's numbers.
func (q *preemptionSearch) shortfall() map[int]quota.Amount {
	node, out := q.preemptor.queue.node, map[int]quota.Amount{}
	for fr, v := range q.want {
		if lacking := v.Sub(node.Available(fr)); lacking > 0 {
			for _, id := range node.IDs([]quota.FlavorResource{fr}) {
				out[id] = lacking
			}
		}
	}
	return out
}

// give takes from a shortfall what a workload holds. A workload that goes makes at most what it holds available, so
// while something is lacking with all candidates gone, no choice among them helps.
func give(shortfall map[int]quota.Amount, o *schedulerWorkload) {
	for id, lacking := range shortfall {
		if lacking = lacking.Sub(o.held.delta.Of(id)); lacking > 0 {
			shortfall[id] = lacking
		} else {
			delete(shortfall, id)
		}
	}
}

func remove(wl *schedulerWorkload)  { wl.held.queue.node.Remove(wl.held.delta) }
func putBack(wl *schedulerWorkload) { wl.held.queue.node.Add(wl.held.delta) }

// putBackAll undoes the removals of a search.
func putBackAll(ts []target) {
	for _, t := range ts {
		putBack(t.workload)
	}
}

// spare puts targets back that need not go, the last removed first; the one that made the workload fit stays.
func (q *preemptionSearch) spare(ts []target, borrow bool) []target {
	for i := len(ts) - 2; i >= 0; i-- {
		putBack(ts[i].workload)
		if q.fits(borrow) {
			ts[i] = ts[len(ts)-1]
			ts = ts[:len(ts)-1]
		} else {
			remove(ts[i].workload)
		}
	}
	return ts
}

// allows reports whether the policy lets the workload preempt the candidate.
func (q *preemptionSearch) allows(candidate *schedulerWorkload, policy kueue.PreemptionPolicy) bool {
	switch policy {
	case kueue.PreemptionPolicyAny:
		return true
	case kueue.PreemptionPolicyLowerPriority:
		return q.preemptor.priority > candidate.priority
	case kueue.PreemptionPolicyLowerOrNewerEqualPriority:
		if q.preemptor.priority != candidate.priority {
			return q.preemptor.priority > candidate.priority
		}
		if compareTimes(q.preemptor.order, candidate.order) >= 0 {
			return false
		}
		return q.buffer == 0 || candidate.order.Sub(q.preemptor.order) > q.buffer
	}
	return false
}

// before is CandidatesOrdering: those already evicted, those of other queues, where admission fair sharing decides the
// LocalQueue that used more, the lower priority, the later reservation, the smaller UID.
func (p *preemption) before(a, b *schedulerWorkload, preemptor *queue) int {
	used := 0
	if p.comparedByUsage(a, b) {
		used = compareUsage(b, a)
	}
	return cmp.Or(
		trueFirst(a.evicted, b.evicted),
		trueFirst(a.held.queue != preemptor, b.held.queue != preemptor),
		used,
		cmp.Compare(a.priority, b.priority),
		b.held.since.Compare(a.held.since),
		cmp.Compare(a.uid, b.uid),
		cmp.Compare(a.key, b.key),
	)
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// comparedByUsage is resourceUsagePreemptionEnabled: of two that may be preempted, the LocalQueue that used more
// counts.
func (p *preemption) comparedByUsage(a, b *schedulerWorkload) bool {
	return a.local != nil && b.local != nil && a.held.queue == b.held.queue && a.local != b.local &&
		(p.localQueuesByKey || a.local.name != b.local.name)
}
