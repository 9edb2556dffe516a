package admission

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Holder is a workload with quota that another one could use.
type Holder struct {
	Charge         *charge.Charge
	ClusterQueue   string
	FlavorResource quota.FlavorResource
	Quantity       quota.Amount
	Priority       int64
	// Since is when its quota was reserved; zero when the input does not tell.
	Since time.Time
	// Preemptible tells that policies and priorities let the waiting workload preempt it. Why not says what forbids it.
	Preemptible bool
	WhyNot      string
	// Evicted: it is about to give its quota back.
	Evicted bool
}

// Holders lists who holds quota of a flavor and resource that the workload's queue could use: in the queue itself, and
// in the rest of its cohort tree what is lent or borrowed. The most comes first. The list is shared by workloads of one
// queue and priority and must not be changed.
func (e *Engine) Holders(c *charge.Charge, fr quota.FlavorResource) []Holder {
	s := e.now()
	it := e.byOf[c]
	if it == nil || it.queue == nil || it.queue.node.Cyclic {
		return nil
	}
	if it.held != nil {
		return s.holders(it, fr)
	}
	key := holdersKey{it.queue, it.priority, s.preemptionOrder(it), fr}
	out, known := e.holders[key]
	if !known {
		out = s.holders(it, fr)
		e.holders[key] = out
	}
	return out
}

// holdersKey is all that a list of holders depends on for a workload that holds nothing itself.
type holdersKey struct {
	queue    *queue
	priority int64
	order    time.Time
	of       quota.FlavorResource
}

func (s *scheduler) holders(it *item, fr quota.FlavorResource) []Holder {
	q := &search{scheduler: s, it: it, keys: []quota.FlavorResource{fr}}
	var out []Holder
	for n := range it.queue.node.Root().AllQueues() {
		from := s.queues[n.Name]
		if from != it.queue && n.Used(fr) <= n.Guaranteed(fr) {
			continue // it uses what it keeps for itself
		}
		for _, o := range from.holders {
			if o == it || o.held.usage[fr] <= 0 {
				continue
			}
			h := Holder{
				Charge: o.charge, ClusterQueue: from.name, FlavorResource: fr, Quantity: o.held.usage[fr], Priority: o.priority,
				Since: o.held.since, Evicted: o.evicted, WhyNot: q.whyNot(o),
			}
			h.Preemptible = h.WhyNot == ""
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Quantity, a.Quantity), cmp.Compare(a.Charge.Workload.Namespace, b.Charge.Workload.Namespace),
			cmp.Compare(a.Charge.Workload.Name, b.Charge.Workload.Name))
	})
	return out
}

// whyNot says, in the terms of the queue's fields, what keeps a workload from being preempted; empty when nothing does.
func (q *search) whyNot(o *item) string {
	home, from := q.it.queue, o.held.queue
	policy, field := home.preemption.WithinClusterQueue, "withinClusterQueue"
	if from != home {
		policy, field = home.preemption.ReclaimWithinCohort, "reclaimWithinCohort"
		if from.inactive != "" {
			return "its ClusterQueue takes part in no preemption while it is inactive"
		}
		if from.node.WithinQuota(q.keys) {
			return "its ClusterQueue is within its own quota"
		}
	}
	switch {
	case policy == "Never":
		return field + " is Never"
	case !q.allows(o, policy) && o.priority > q.it.priority:
		return "its priority is higher"
	case !q.allows(o, policy) && o.priority == q.it.priority:
		return field + " is " + string(policy) + ", and it has the same priority"
	case !q.allows(o, policy):
		return field + " is " + string(policy)
	}
	return ""
}

// Position is a workload's place among those that wait, from 1.
type Position struct {
	ClusterQueue, LocalQueue int
	// Ahead are the workloads before it in the ClusterQueue, in order.
	Ahead []*charge.Charge
	// Strict: the queue takes the first or none (StrictFIFO).
	Strict bool
	// ByUsage: admission fair sharing puts workloads of the LocalQueue first that used less lately.
	ByUsage bool
	// Certain is false when the order depends on what the input does not tell; Why says on what.
	Certain bool
	Why     string
}

// Position tells a waiting workload's place; nil for one that does not wait in a queue.
func (e *Engine) Position(c *charge.Charge) *Position {
	s := e.now()
	it := e.byOf[c]
	if it == nil || !it.waits() {
		return nil
	}
	w := s.waiting(it.queue)
	at := w.at[it]
	p := &Position{ClusterQueue: at.queue, LocalQueue: at.local, Ahead: w.charges[: at.queue-1 : at.queue-1], Strict: it.queue.strict, ByUsage: it.local != nil, Certain: true}
	switch {
	case len(w.charges) == 1:
	case it.order.IsZero() && w.timeless[it.priority] > 1:
		p.Certain, p.Why = false, "some workloads have no creation time in the input"
	case w.unknownPriority:
		p.Certain, p.Why = false, "the priority of a waiting workload is not known"
	}
	if !e.snap.Coverage.Has(cluster.Workload) {
		p.Certain, p.Why = false, "not all Workloads are in the input"
	}
	if why := s.undecided(order, it, w.oneOfEach); why != "" {
		p.Certain, p.Why = false, why
	}
	return p
}

// waitingLine is what waits in a queue in its order, with what the places of all its workloads depend on.
type waitingLine struct {
	items   []*item
	charges []*charge.Charge
	// at is nil until the line is put in order.
	at map[*item]struct{ queue, local int } // from 1
	// timeless counts workloads without a creation time by priority.
	timeless        map[int64]int
	unknownPriority bool
	// oneOfEach is the first workload of each LocalQueue.
	oneOfEach []*item
}

// waiting is the line of a queue in the present state, worked out once.
func (s *scheduler) waiting(q *queue) *waitingLine {
	if s.lines == nil {
		s.lines = map[*queue]*waitingLine{}
		for _, it := range s.items {
			if !it.waits() {
				continue
			}
			if s.lines[it.queue] == nil {
				s.lines[it.queue] = &waitingLine{}
			}
			s.lines[it.queue].items = append(s.lines[it.queue].items, it)
		}
	}
	l := s.lines[q]
	if l == nil {
		return &waitingLine{}
	}
	if l.at == nil {
		l.arrange()
	}
	return l
}

// arrange puts the line into its order.
func (l *waitingLine) arrange() {
	type localQueue struct{ namespace, name string }
	l.at, l.timeless = map[*item]struct{ queue, local int }{}, map[int64]int{}
	slices.SortFunc(l.items, (*item).compare)
	local := map[localQueue]int{}
	for i, it := range l.items {
		lq := localQueue{it.namespace, it.localQueue}
		if local[lq]++; local[lq] == 1 {
			l.oneOfEach = append(l.oneOfEach, it)
		}
		l.charges = append(l.charges, it.charge)
		l.at[it] = struct{ queue, local int }{i + 1, local[lq]}
		l.unknownPriority = l.unknownPriority || it.unknownPriority()
		if it.order.IsZero() {
			l.timeless[it.priority]++
		}
	}
}

// waits tells that the workload stands in a queue.
func (it *item) waits() bool {
	return it.state == Pending && it.refused == nil && it.held == nil && it.queue != nil
}

func (it *item) unknownPriority() bool { return it.charge.Workload.PriorityMissing != "" }

// Waiting lists the workloads that stand in a ClusterQueue, in its order.
func (e *Engine) Waiting(queue string) []*charge.Charge {
	s := e.now()
	return slices.Clone(s.waiting(s.queues[queue]).charges)
}

// Node is the place of a ClusterQueue in its tree, with what is reserved now; nil when it does not exist.
func (e *Engine) Node(queue string) *quota.Node { return e.now().forest.Queue(queue) }

// CohortNode is the same for a cohort.
func (e *Engine) CohortNode(cohort string) *quota.Node { return e.now().forest.Cohort(cohort) }

// NotReady lists the admitted workloads whose pods are not ready.
func (e *Engine) NotReady() []*charge.Charge {
	var out []*charge.Charge
	for _, it := range e.now().items {
		if it.held != nil && it.notReady {
			out = append(out, it.charge)
		}
	}
	return out
}

// Choices are the workload's device requests that a narrower selector would make cheaper.
func (e *Engine) Choices(c *charge.Charge) []charge.Choice { return e.engine.Choices(c) }
