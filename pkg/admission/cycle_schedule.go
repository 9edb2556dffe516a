// One scheduling cycle. Mirrors schedule and processEntry of pkg/scheduler/scheduler.go.

package admission

import (
	"slices"
	"strconv"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// requeueReason says why a workload goes back to its queue; it decides whether it is tried again at once.
type requeueReason int

const (
	generic requeueReason = iota
	failedAfterNomination
	pendingPreemption
	didNotFit
	nobodyToPreempt
)

// schedule runs one cycle over the heads of queues: assigns flavors to each, then lets them have what is still there,
// one after the other.
func (s *scheduler) schedule(heads []*item) []*nominee {
	s.cycle++
	var ns, done []*nominee
	for _, it := range heads {
		if it.turnedAway {
			done = append(done, &nominee{it: it, messages: []string{it.blocked.Message}})
			continue
		}
		if len(it.invalid) > 0 {
			done = append(done, &nominee{it: it, messages: it.invalid})
			continue
		}
		ns = append(ns, s.nominate(it))
	}
	if n := crashing(ns); n != nil {
		return []*nominee{n}
	}
	order := s.sequence(ns)
	victims := map[*item]bool{}
	var booked []booking
	for n := order.next(); n != nil; n = order.next() {
		booked = s.process(n, victims, booked)
		done = append(done, n)
		if n.blocked {
			break
		}
	}
	for _, b := range slices.Backward(booked) {
		b.undo()
	}
	return done
}

// booking is usage added for the rest of a cycle.
type booking struct{ undo func() }

// nominate attempts to place a workload. An attempt depends on what is reserved in the tree, and on where the scan of
// flavors stands; while both are the same, so is its outcome.
func (s *scheduler) nominate(it *item) *nominee {
	n := &nominee{it: it, preemptor: it.queue.line.preemptor == it}
	s.dropOutdated(it, s.cycle)
	n.resumed = it.last != nil
	m, now := it.memo, moment{it.queue.tree.version, it.last.key()}
	n.from = it.last.start()
	if m == nil || m.moment != now {
		a, ts, t := s.attemptEitherWay(it)
		m = &memo{now, a, ts, a.messages(), t}
		it.memo = m
	}
	again := *m.assignment
	last := *again.last
	last.cycle, last.generation = s.cycle, it.queue.allocatable()
	again.last = &last
	n.record(&again, m.targets, m.messages)
	n.tie = m.tie
	return n
}

// memo is the outcome of an attempt, and moment all that it depended on.
type memo struct {
	moment
	assignment *assignment
	targets    []target
	messages   []string
	tie        *tie
}

type moment struct {
	version  int
	progress string
}

func (n *nominee) record(a *assignment, ts []target, messages []string) {
	n.assignment, n.targets, n.messages, n.prepared = a, ts, messages, nil
	n.it.last = a.last
}

// process gives a nominee what it was assigned, unless others of the cycle were faster.
func (s *scheduler) process(n *nominee, victims map[*item]bool, booked []booking) []booking {
	s.recompute(n, victims)
	switch n.assignment.mode() {
	case NoFit:
		n.why, n.fine = didNotFit, n.assignment.noFitReason(s.behavior.ResourceOrder == release.GoMap)
		return booked
	case NeedsPreemption:
		if len(n.targets) == 0 {
			n.why, n.fine = nobodyToPreempt, reasonWaitingForQuota
			if n.it.queue.preemption.ReclaimWithinCohort != kueue.PreemptionPolicyAny || s.behavior.PreemptorsFirst && n.preemptor {
				booked = append(booked, s.book(n, s.toReserve(n)))
			}
			return booked
		}
	case DeferredFit:
		n.why, n.fine, n.messages = pendingPreemption, reasonWaitingForVictims, []string{message.Of(message.FitsAfterOverlap).Text()}
		n.it.last = nil
		return append(booked, s.book(n, n.usage()))
	}
	for _, t := range n.targets {
		if victims[t.item] {
			return s.skip(n, message.Of(message.OverlappingTargets).Text(), booked)
		}
	}
	if !s.stillFits(n, victims) {
		return s.skip(n, message.Of(message.NoLongerFits).Text(), booked)
	}
	for _, t := range n.targets {
		victims[t.item] = true
	}
	booked = append(booked, s.book(n, n.usage()))
	switch {
	case n.assignment.mode() == NeedsPreemption:
		n.why, n.fine = pendingPreemption, reasonWaitingForVictims
		n.suffix = message.Of(message.PendingPreemption, strconv.Itoa(len(n.targets))).Text()
		n.it.last = nil
	case s.blockAdmission && s.anyNotReady():
		n.blocked, n.fine, n.messages = true, reasonWaitingForPods, []string{message.Of(message.WaitingForPodsReady).Text()}
	default:
		n.done = true
	}
	return booked
}

func (s *scheduler) anyNotReady() bool {
	for _, name := range s.names {
		for _, it := range s.queues[name].holders {
			if it.notReady {
				return true
			}
		}
	}
	return false
}

func (s *scheduler) skip(n *nominee, message string, booked []booking) []booking {
	n.skipped, n.messages, n.fine = true, []string{message}, reasonWaitingForQuota
	if !s.behavior.PreserveScanProgress {
		n.it.last = nil
	}
	return booked
}

// recompute assigns again, within the flavors nominated, when somebody earlier in the cycle preempts the same workloads.
func (s *scheduler) recompute(n *nominee, victims map[*item]bool) {
	if !s.behavior.RecomputeOnOverlap {
		return
	}
	overlap := false
	for _, t := range n.targets {
		overlap = overlap || victims[t.item]
	}
	if !overlap {
		return
	}
	only := nominated{}
	for _, ps := range n.assignment.podSets() {
		only[ps.Name] = ps.Flavors
	}
	for v := range victims {
		remove(v)
	}
	s.gone, n.it.last = victims, nil
	a, ts := s.attempt(n.it, only)
	n.record(a, ts, a.messages())
	s.gone = nil
	for v := range victims {
		putBack(v)
	}
	if n.assignment.mode() == Fit {
		deferred := DeferredFit
		n.assignment.forced = &deferred
	}
}

// stillFits tells that the nominee's usage is available once all victims of the cycle are gone.
func (s *scheduler) stillFits(n *nominee, victims map[*item]bool) bool {
	gone := make(map[*item]bool, len(victims)+len(n.targets))
	for v := range victims {
		gone[v] = true
	}
	for _, t := range n.targets {
		gone[t.item] = true
	}
	for v := range gone {
		remove(v)
	}
	defer func() {
		for v := range gone {
			putBack(v)
		}
	}()
	for fr, v := range n.usage() {
		if n.it.queue.node.Available(fr) < v {
			return false
		}
	}
	return true
}
