// Whose share is largest. Mirrors TargetClusterQueueOrdering of pkg/scheduler/preemption/fairsharing.

package admission

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"

// ordering yields queues to preempt from, walking from the root to the child with the largest share each time.
type ordering struct {
	q       *preemptionSearch
	left    map[*queue][]*schedulerWorkload
	dropped map[*quota.Node]bool // nodes that yield no more candidates
	path    map[*quota.Node]bool // cohorts above the preemptor
}

func (q *preemptionSearch) ordering(candidates []*schedulerWorkload) *ordering {
	o := &ordering{
		q:       q,
		left:    map[*queue][]*schedulerWorkload{},
		dropped: map[*quota.Node]bool{},
		path:    map[*quota.Node]bool{},
	}
	for a := range q.preemptor.queue.node.Ancestors() {
		o.path[a] = true
	}
	for _, c := range candidates {
		o.left[c.held.queue] = append(o.left[c.held.queue], c)
	}
	return o
}

func (o *ordering) pop(from *queue) *schedulerWorkload {
	head := o.left[from][0]
	o.left[from] = o.left[from][1:]
	return head
}

// next is the queue to take the next candidate from; nil when there is none left.
func (o *ordering) next() *queue {
	home := o.q.preemptor.queue
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
			o.q.equalCohorts = &cohortPair{child.Name, alike.Name}
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
		case order == 0 && o.q.takeFirstOfEqual:
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
	home := o.q.preemptor.queue
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
