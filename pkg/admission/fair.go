package admission

import (
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// strategy tells whether a workload may be preempted, from the shares of the two sides: the preemptor's with its
// workload, the other's before and after losing the candidate.
type strategy func(preemptor, before, after quota.Share) bool

func finalShare(preemptor, _, after quota.Share) bool    { return preemptor.Compare(after) <= 0 }
func initialShare(preemptor, before, _ quota.Share) bool { return preemptor.Compare(before) < 0 }

// fairly preempts by dominant resource shares: always from the side that has the largest, as far as a strategy allows.
func (q *search) fairly() []target {
	candidates := q.fairCandidates()
	lacking := q.shortfall()
	for i := 0; i < len(candidates) && len(lacking) > 0; i++ {
		give(lacking, candidates[i])
	}
	if len(candidates) == 0 || len(lacking) > 0 {
		return nil
	}
	slices.SortFunc(candidates, func(a, b *item) int { return q.before(a, b, q.it.queue) })
	node := q.it.queue.node
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
func (q *search) fairCandidates() []*item {
	var out []*item
	home := q.it.queue
	add := func(from *queue, policy kueue.PreemptionPolicy) {
		for _, o := range from.holders {
			if q.allows(o, policy) && o.held.delta.Touches(q.ids) && !q.gone[o] {
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
func (q *search) fitsFairly(mine quota.Delta) bool {
	q.it.queue.node.Remove(mine)
	ok := q.fits(true)
	q.it.queue.node.Add(mine)
	return ok
}

func (q *search) firstStrategy(candidates []*item, mine quota.Delta) (found []target, retry []*item, ok bool) {
	entitled := q.gate(release.FairSharingPreemptWithinNominal) && !slices.ContainsFunc(q.keys, q.it.queue.node.Borrowing)
	o := q.ordering(candidates)
	for {
		from := o.next()
		if from == nil {
			return found, retry, false
		}
		if from == q.it.queue || entitled {
			reason := inClusterQueue
			if from != q.it.queue {
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

func (q *search) secondStrategy(retry []*item, found []target, mine quota.Delta) ([]target, bool) {
	o := q.ordering(retry)
	for {
		from := o.next()
		if from == nil {
			return found, false
		}
		var side, other quota.Share
		if from != q.it.queue {
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
func (q *search) sides(other *queue) (preemptor, target *quota.Node) {
	above := map[*quota.Node]*quota.Node{} // a cohort above the preemptor, and the node on the way to it
	step := q.it.queue.node
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
	return q.it.queue.node, other.node
}

// ordering yields queues to preempt from, walking from the root to the child with the largest share each time.
type ordering struct {
	q       *search
	left    map[*queue][]*item
	dropped map[*quota.Node]bool // nodes that yield no more candidates
	path    map[*quota.Node]bool // cohorts above the preemptor
}

func (q *search) ordering(candidates []*item) *ordering {
	o := &ordering{q: q, left: map[*queue][]*item{}, dropped: map[*quota.Node]bool{}, path: map[*quota.Node]bool{}}
	for a := range q.it.queue.node.Ancestors() {
		o.path[a] = true
	}
	for _, c := range candidates {
		o.left[c.held.queue] = append(o.left[c.held.queue], c)
	}
	return o
}

func (o *ordering) pop(from *queue) *item {
	head := o.left[from][0]
	o.left[from] = o.left[from][1:]
	return head
}

// next is the queue to take the next candidate from; nil when there is none left.
func (o *ordering) next() *queue {
	home := o.q.it.queue
	if home.node.Parent() == nil {
		if o.dropped[home.node] || len(o.left[home]) == 0 {
			return nil
		}
		return home
	}
	root := home.node.Root()
	for !o.dropped[root] {
		if found := o.below(root); found != nil {
			return found
		}
	}
	return nil
}

// below descends into the child of a cohort with the largest share. Nil says that something was dropped on the way.
func (o *ordering) below(cohort *quota.Node) *queue {
	queue, queueShare := o.largestQueue(cohort)
	child, alike, childShare := o.largestCohort(cohort)
	switch {
	case child == nil && queue == nil:
		o.dropped[cohort] = true
		return nil
	case child != nil && childShare.Compare(queueShare) >= 0:
		if alike != nil {
			o.q.alike = &alikeCohorts{child.Name, alike.Name}
		}
		return o.below(child)
	}
	return queue
}

// largestCohort of the children of a cohort. Of several with the same share Kueue takes the one that comes last in the
// arbitrary order of a map; alike is another of them.
func (o *ordering) largestCohort(cohort *quota.Node) (largest, alike *quota.Node, largestShare quota.Share) {
	largestShare = quota.NoShare()
	for _, c := range cohort.Cohorts() {
		if o.dropped[c] {
			continue
		}
		share := c.Share()
		order := share.Compare(largestShare)
		switch {
		case !share.Borrowing && !o.path[c]:
			o.dropped[c] = true
		case largest == nil && order >= 0 || order > 0:
			largest, alike, largestShare = c, nil, share
		case order == 0 && o.q.firstOfAlike:
			alike = c
		case order == 0:
			largest, alike = c, largest
		}
	}
	return largest, alike, largestShare
}

func (o *ordering) largestQueue(cohort *quota.Node) (*queue, quota.Share) {
	var largest *queue
	largestShare := quota.NoShare()
	home := o.q.it.queue
	for _, n := range cohort.Queues() {
		if o.dropped[n] {
			continue
		}
		at, share := o.q.queues[n.Name], n.Share()
		switch c := share.Compare(largestShare); {
		case !share.Borrowing && at != home, len(o.left[at]) == 0:
			o.dropped[n] = true
		case c == 0:
			if o.q.before(o.left[at][0], o.left[largest][0], home) < 0 {
				largest = at
			}
		case c > 0:
			largest, largestShare = at, share
		}
	}
	return largest, largestShare
}
