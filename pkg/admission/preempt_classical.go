// Preemption by priority. Mirrors pkg/scheduler/preemption/classical.

package admission

import (
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Reasons of the Preempted condition.
const (
	inClusterQueue      = kueue.InClusterQueueReason
	inCohort            = kueue.InCohortReclamationReason
	inCohortFairly      = kueue.InCohortFairSharingReason
	inCohortByBorrowing = kueue.InCohortReclaimWhileBorrowingReason
)

// candidate is a workload that classical preemption may take.
type candidate struct {
	workload *schedulerWorkload
	// common is the lowest cohort above both queues; nil for the preemptor's own queue.
	common *quota.Node
	reason string
	// withoutBorrowing: only if the preemptor ends up within its own nominal quota.
	withoutBorrowing bool
}

// classically preempts as long as the workload does not fit, taking candidates in order, then spares whom it can.
//
// Candidates are of three kinds: those over whose quota the preemptor has the advantage of being nearer in the tree of
// cohorts, those elsewhere in the cohort that only priority decides about, and those in the same queue.
func (q *preemptionSearch) classically() []target {
	near, far := q.elsewhere()
	same := q.sameQueue()
	lacking := q.shortfall()
	for _, list := range [][]candidate{near, far, same} {
		for i := 0; i < len(list) && len(lacking) > 0; i++ {
			give(lacking, list[i].workload)
		}
	}
	if len(near)+len(far)+len(same) == 0 || len(lacking) > 0 {
		return nil
	}
	var order []candidate
	for _, list := range [][]candidate{near, far, same} {
		q.sort(list)
	}
	for _, evicted := range []bool{true, false} {
		for _, list := range [][]candidate{near, far, same} {
			for _, c := range list {
				if c.workload.evicted == evicted {
					order = append(order, c)
				}
			}
		}
	}
	for _, borrow := range q.borrowingTried(near, far) {
		if found := q.take(order, borrow); found != nil {
			return found
		}
	}
	return nil
}

// borrowingTried says whether preemption is tried with the preemptor borrowing, without, or both, and in which order.
func (q *preemptionSearch) borrowingTried(near, far []candidate) []bool {
	forbidden := q.mayNotBorrow()
	switch {
	case len(near)+len(far) == 0, forbidden && !q.underNominal():
		return []bool{true}
	case forbidden && len(near) == 0:
		return []bool{false, true}
	}
	return []bool{true, false}
}

func (q *preemptionSearch) mayNotBorrow() bool {
	b := q.preemptor.queue.preemption.BorrowWithinCohort
	return b == nil || b.Policy == kueue.BorrowWithinCohortPolicyNever
}

// underNominal reports whether the queue uses less than its nominal quota of everything that needs preemption.
func (q *preemptionSearch) underNominal() bool {
	node := q.preemptor.queue.node
	for _, fr := range q.keys {
		if node.Limits(fr).Nominal <= node.Used(fr) {
			return false
		}
	}
	return true
}

func (q *preemptionSearch) take(order []candidate, borrow bool) []target {
	var out []target
	for _, c := range order {
		if !q.stillValid(c, borrow) {
			continue
		}
		remove(c.workload)
		out = append(out, target{c.workload, c.reason})
		if q.fits(borrow) {
			out = q.spare(out, borrow)
			putBackAll(out)
			return out
		}
	}
	putBackAll(out)
	return nil
}

// stillValid reports whether a candidate may be taken: its queue, and the cohorts below the common one, still use more
// than they own.
func (q *preemptionSearch) stillValid(c candidate, borrow bool) bool {
	home := c.workload.held.queue
	if home == q.preemptor.queue {
		return true
	}
	if borrow && c.withoutBorrowing || home.node.WithinQuota(q.keys) {
		return false
	}
	for a := range home.node.Ancestors() {
		if a == c.common {
			break
		}
		if a.WithinQuota(q.keys) {
			return false
		}
	}
	return true
}

func (q *preemptionSearch) sameQueue() []candidate {
	policy := q.preemptor.queue.preemption.WithinClusterQueue
	if policy == kueue.PreemptionPolicyNever {
		return nil
	}
	var out []candidate
	for _, o := range q.preemptor.queue.holders {
		if o.held.delta.Touches(q.ids) && q.allows(o, policy) && !q.removed[o] {
			out = append(out, candidate{workload: o, reason: inClusterQueue})
		}
	}
	return out
}

func (q *preemptionSearch) sort(cs []candidate) {
	slices.SortFunc(cs, func(a, b candidate) int { return q.before(a.workload, b.workload, q.preemptor.queue) })
}

// elsewhere collects the candidates of other queues, walking up the tree. Once a subtree could serve the workload from
// its own quota, the preemptor has the advantage over everybody beyond it.
func (q *preemptionSearch) elsewhere() (near, far []candidate) {
	home := q.preemptor.queue
	if home.node.Parent() == nil || home.preemption.ReclaimWithinCohort == kueue.PreemptionPolicyNever {
		return nil, nil
	}
	advantage, rest := home.node.Fits(q.want)
	var below *quota.Node
	for cohort := range home.node.Ancestors() {
		into := &far
		if advantage {
			into = &near
		}
		q.collect(cohort, cohort, below, advantage, into)
		var fits bool
		fits, rest = cohort.Fits(rest)
		advantage = advantage || fits
		below = cohort
	}
	return near, far
}

// collect gathers candidates from the queues below a cohort that use more than they own.
func (q *preemptionSearch) collect(cohort, common, skip *quota.Node, advantage bool, into *[]candidate) {
	for _, c := range cohort.Cohorts() {
		if c != skip && !c.WithinQuota(q.keys) {
			q.collect(c, common, skip, advantage, into)
		}
	}
	for _, n := range cohort.Queues() {
		other := q.queues[n.Name]
		if other == q.preemptor.queue || n.WithinQuota(q.keys) || other.inactive != "" {
			continue
		}
		for _, o := range other.holders {
			if c, ok := q.classify(o, advantage); ok {
				c.common = common
				*into = append(*into, c)
			}
		}
	}
}

// classify reports whether a workload of another queue may be preempted, and under which terms.
func (q *preemptionSearch) classify(o *schedulerWorkload, advantage bool) (candidate, bool) {
	home := q.preemptor.queue
	if q.removed[o] || !o.held.delta.Touches(q.ids) || !q.allows(o, home.preemption.ReclaimWithinCohort) {
		return candidate{}, false
	}
	c := candidate{workload: o, reason: inCohort}
	switch b := home.preemption.BorrowWithinCohort; {
	case advantage:
	case q.mayNotBorrow(),
		o.priority >= q.preemptor.priority,
		b.MaxPriorityThreshold != nil && o.priority > int64(*b.MaxPriorityThreshold):
		c.withoutBorrowing = true
	default:
		c.reason = inCohortByBorrowing
	}
	return c, true
}
