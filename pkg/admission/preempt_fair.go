// Preemption by shares. Mirrors pkg/scheduler/preemption/fairsharing and fairPreemptions of preemption.go.

package admission

import (
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// strategy reports whether a workload may be preempted, from the shares of the two sides: the preemptor's with its
// workload, the other's before and after losing the candidate.
type strategy func(preemptor, before, after quota.Share) bool

func finalShare(preemptor, _, after quota.Share) bool    { return preemptor.Compare(after) <= 0 }
func initialShare(preemptor, before, _ quota.Share) bool { return preemptor.Compare(before) < 0 }

// fairly preempts by dominant resource shares: always from the side that has the largest, as far as a strategy allows.
func (q *preemptionSearch) fairly() []target {
	candidates := q.fairCandidates()
	lacking := q.shortfall()
	for i := 0; i < len(candidates) && len(lacking) > 0; i++ {
		give(lacking, candidates[i])
	}
	if len(candidates) == 0 || len(lacking) > 0 {
		return nil
	}
	slices.SortFunc(candidates, func(a, b *schedulerWorkload) int { return q.before(a, b, q.preemptor.queue) })
	node := q.preemptor.queue.node
	mine := node.Delta(q.want)
	node.Add(mine) // shares count the workload itself
	found, retry, ok := q.firstStrategy(candidates, mine)
	if !ok && len(q.strategies) > 1 {
		found, ok = q.secondStrategy(retry, found, mine)
	}
	node.Remove(mine)
	if !ok {
		putBackAll(found)
		return nil
	}
	found = q.spare(found, true)
	putBackAll(found)
	return found
}

// fairCandidates are the workloads of the own queue, and of borrowing queues in the whole cohort, that policies allow.
func (q *preemptionSearch) fairCandidates() []*schedulerWorkload {
	var out []*schedulerWorkload
	home := q.preemptor.queue
	add := func(from *queue, policy kueue.PreemptionPolicy) {
		for _, o := range from.holders {
			if q.allows(o, policy) && o.held.delta.Touches(q.ids) && !q.removed[o] {
				out = append(out, o)
			}
		}
	}
	if p := home.preemption.WithinClusterQueue; p != kueue.PreemptionPolicyNever {
		add(home, p)
	}
	if p := home.preemption.ReclaimWithinCohort; p != kueue.PreemptionPolicyNever && home.node.Parent() != nil {
		for n := range home.node.Root().AllQueues() {
			other := q.queues[n.Name]
			if other != home && other.inactive == "" && slices.ContainsFunc(q.keys, n.Borrowing) {
				add(other, p)
			}
		}
	}
	return out
}

// fitsFairly is fits without the workload's own usage, which the search has added for the shares.
func (q *preemptionSearch) fitsFairly(mine quota.Delta) bool {
	q.preemptor.queue.node.Remove(mine)
	ok := q.fits(true)
	q.preemptor.queue.node.Add(mine)
	return ok
}

func (q *preemptionSearch) firstStrategy(
	candidates []*schedulerWorkload,
	mine quota.Delta,
) (found []target, retry []*schedulerWorkload, ok bool) {
	entitled := q.withinNominal && !slices.ContainsFunc(q.keys, q.preemptor.queue.node.Borrowing)
	o := q.ordering(candidates)
	for {
		from := o.next()
		if from == nil {
			return found, retry, false
		}
		if from == q.preemptor.queue || entitled {
			reason := inClusterQueue
			if from != q.preemptor.queue {
				reason = inCohort
			}
			victim := o.pop(from)
			remove(victim)
			found = append(found, target{victim, reason})
			if q.fitsFairly(mine) {
				return found, nil, true
			}
			continue
		}
		side, other := q.sides(from)
		preemptor, was := side.Share(), other.Share()
		for len(o.left[from]) > 0 {
			victim := o.pop(from)
			remove(victim)
			if !q.strategies[0](preemptor, was, other.Share()) {
				putBack(victim)
				retry = append(retry, victim)
				continue
			}
			found = append(found, target{victim, inCohortFairly})
			if q.fitsFairly(mine) {
				return found, retry, true
			}
			break // shares have changed: another queue may be next
		}
	}
}

func (q *preemptionSearch) secondStrategy(
	retry []*schedulerWorkload,
	found []target,
	mine quota.Delta,
) ([]target, bool) {
	o := q.ordering(retry)
	for {
		from := o.next()
		if from == nil {
			return found, false
		}
		var side, other quota.Share
		if from != q.preemptor.queue {
			a, b := q.sides(from)
			side, other = a.Share(), b.Share()
		}
		victim := o.pop(from)
		if initialShare(side, other, quota.Share{}) {
			remove(victim)
			found = append(found, target{victim, inCohortFairly})
			if q.fitsFairly(mine) {
				return found, true
			}
		}
		o.dropped[from.node] = true
	}
}

// sides are the two nodes right below the lowest cohort that the preemptor's queue and another have in common.
func (q *preemptionSearch) sides(other *queue) (preemptor, target *quota.Node) {
	above := map[*quota.Node]*quota.Node{} // a cohort above the preemptor, and the node on the way to it
	step := q.preemptor.queue.node
	for a := range step.Ancestors() {
		above[a] = step
		step = a
	}
	step = other.node
	for a := range step.Ancestors() {
		if mine, common := above[a]; common {
			return mine, step
		}
		step = a
	}
	return q.preemptor.queue.node, other.node
}
