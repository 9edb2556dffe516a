// Whom to preempt: what both kinds of search share. Mirrors pkg/scheduler/preemption/preemption.go, its common package
// and preemption_oracle.go.

package admission

import (
	"cmp"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// target is a workload that would be preempted, and why.
type target struct {
	workload *schedulerWorkload
	reason   string
}

// preemptionSearch is one question of preemption: who has to go so that a workload fits.
type preemptionSearch struct {
	*scheduler
	preemptor *schedulerWorkload
	keys      []quota.FlavorResource // that need preemption
	want      quota.Usage            // all the workload asks for
	ids       []int                  // of keys, in the queue's tree
}

// targets answers for a whole assignment.
func (s *scheduler) targets(wl *schedulerWorkload, a *assignment) []target {
	return s.find(&preemptionSearch{scheduler: s, preemptor: wl, keys: a.needsPreemption(), want: a.demand(wl)})
}

// possible answers for one flavor and resource alone: whether anybody could be preempted, and how far away the quota
// would then be borrowed from.
func (s *scheduler) possible(wl *schedulerWorkload, fr quota.FlavorResource, val quota.Amount) flavorScore {
	found := s.find(&preemptionSearch{scheduler: s, preemptor: wl, keys: []quota.FlavorResource{fr}, want: quota.Usage{fr: val}})
	for _, t := range found {
		t.workload.held.queue.node.Remove(t.workload.held.delta)
	}
	height, _ := wl.queue.node.BorrowingHeight(fr, val)
	for _, t := range found {
		t.workload.held.queue.node.Add(t.workload.held.delta)
	}
	switch {
	case len(found) == 0:
		return flavorScore{noCandidates, height}
	case slices.ContainsFunc(found, func(t target) bool { return t.workload.held.queue == wl.queue }):
		return flavorScore{preempt, height}
	}
	return flavorScore{reclaim, height}
}

func (s *scheduler) find(q *preemptionSearch) []target {
	q.ids = q.preemptor.queue.node.IDs(q.keys)
	if s.fair {
		return q.fairly()
	}
	return q.classically()
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
		return !q.gate(release.SchedulerTimestampPreemptionBuffer) || candidate.order.Sub(q.preemptor.order) > timestampBuffer
	}
	return false
}

// before is CandidatesOrdering: those already evicted, those of other queues, where admission fair sharing decides the
// LocalQueue that used more, the lower priority, the later reservation, the smaller UID.
func (s *scheduler) before(a, b *schedulerWorkload, preemptor *queue) int {
	used := 0
	if s.comparedByUsage(a, b) {
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
