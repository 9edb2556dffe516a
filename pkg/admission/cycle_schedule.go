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
func (s *scheduler) schedule(heads []*schedulerWorkload) []*entry {
	s.cycle++
	var ns, done []*entry
	for _, wl := range heads {
		if wl.namespaceMismatch {
			done = append(done, &entry{workload: wl, messages: []string{wl.blocked.Message}})
			continue
		}
		if len(wl.invalid) > 0 {
			done = append(done, &entry{workload: wl, messages: wl.invalid})
			continue
		}
		ns = append(ns, s.nominate(wl))
	}
	if n := crashingEntry(ns); n != nil {
		return []*entry{n}
	}
	order := s.sequence(ns)
	victims := map[*schedulerWorkload]bool{}
	var booked []simulatedUsage
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

// simulatedUsage is usage added for the rest of a cycle.
type simulatedUsage struct{ undo func() }

// nominate attempts to place a workload. An attempt depends on what is reserved in the tree, and on where the scan of
// flavors stands; while both are the same, so is its outcome.
func (s *scheduler) nominate(wl *schedulerWorkload) *entry {
	n := &entry{workload: wl, preemptor: wl.queue.pending.preemptor == wl}
	s.dropOutdated(wl, s.cycle)
	n.resumed = wl.position != nil
	m, now := wl.memo, moment{wl.queue.tree.version, wl.position.key()}
	n.scanStart = wl.position.start()
	if m == nil || m.moment != now {
		a, ts, t := s.attemptBothWays(wl)
		m = &memo{now, a, ts, a.messages(), t}
		wl.memo = m
	}
	again := *m.assignment
	last := *again.last
	last.cycle, last.generation = s.cycle, wl.queue.allocatable()
	again.last = &last
	n.record(&again, m.targets, m.messages)
	n.equalShares = m.equalShares
	return n
}

// memo is the result of an attempt, and moment all that it depended on.
type memo struct {
	moment
	assignment  *assignment
	targets     []target
	messages    []string
	equalShares *equalShares
}

type moment struct {
	version  int
	progress string
}

func (n *entry) record(a *assignment, ts []target, messages []string) {
	n.assignment, n.targets, n.messages, n.prepared = a, ts, messages, nil
	n.workload.position = a.last
}

// process gives an entry what it was assigned, unless others of the cycle were faster.
func (s *scheduler) process(n *entry, victims map[*schedulerWorkload]bool, booked []simulatedUsage) []simulatedUsage {
	s.recompute(n, victims)
	switch n.assignment.mode() {
	case NoFit:
		n.requeueReason, n.granularReason = didNotFit,
			n.assignment.noFitReason(s.behavior.ResourceOrder == release.GoMap)
		return booked
	case NeedsPreemption:
		if len(n.targets) == 0 {
			n.requeueReason, n.granularReason = nobodyToPreempt, reasonWaitingForQuota
			if n.workload.queue.preemption.ReclaimWithinCohort != kueue.PreemptionPolicyAny ||
				s.behavior.PreemptorsFirst && n.preemptor {
				booked = append(booked, s.addUsage(n, s.toReserve(n)))
			}
			return booked
		}
	case DeferredFit:
		n.requeueReason, n.granularReason, n.messages = pendingPreemption, reasonWaitingForVictims, []string{
			message.Of(message.FitsAfterOverlap).Text(),
		}
		n.workload.position = nil
		return append(booked, s.addUsage(n, n.usage()))
	}
	for _, t := range n.targets {
		if victims[t.workload] {
			return s.skip(n, message.Of(message.OverlappingTargets).Text(), booked)
		}
	}
	if !s.stillFits(n, victims) {
		return s.skip(n, message.Of(message.NoLongerFits).Text(), booked)
	}
	for _, t := range n.targets {
		victims[t.workload] = true
	}
	booked = append(booked, s.addUsage(n, n.usage()))
	switch {
	case n.assignment.mode() == NeedsPreemption:
		n.requeueReason, n.granularReason = pendingPreemption, reasonWaitingForVictims
		n.suffix = message.Of(message.PendingPreemption, strconv.Itoa(len(n.targets))).Text()
		n.workload.position = nil
	case s.blockAdmission && s.anyNotReady():
		n.blocked, n.granularReason, n.messages = true, reasonWaitingForPods, []string{
			message.Of(message.WaitingForPodsReady).Text(),
		}
	default:
		n.assumed = true
	}
	return booked
}

func (s *scheduler) anyNotReady() bool {
	for _, name := range s.names {
		for _, wl := range s.queues[name].holders {
			if wl.notReady {
				return true
			}
		}
	}
	return false
}

func (s *scheduler) skip(n *entry, message string, booked []simulatedUsage) []simulatedUsage {
	n.skipped, n.messages, n.granularReason = true, []string{message}, reasonWaitingForQuota
	if !s.behavior.PreserveScanProgress {
		n.workload.position = nil
	}
	return booked
}

// recompute assigns again, within the flavors nominated, when somebody earlier in the cycle preempts the same
// workloads.
func (s *scheduler) recompute(n *entry, victims map[*schedulerWorkload]bool) {
	if !s.behavior.RecomputeOnOverlap {
		return
	}
	overlap := false
	for _, t := range n.targets {
		overlap = overlap || victims[t.workload]
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
	s.preemption.removed, n.workload.position = victims, nil
	a, ts := s.attempt(n.workload, only)
	n.record(a, ts, a.messages())
	s.preemption.removed = nil
	for v := range victims {
		putBack(v)
	}
	if n.assignment.mode() == Fit {
		deferred := DeferredFit
		n.assignment.forced = &deferred
	}
}

// stillFits reports whether the entry's usage is available once all victims of the cycle are gone.
func (s *scheduler) stillFits(n *entry, victims map[*schedulerWorkload]bool) bool {
	gone := make(map[*schedulerWorkload]bool, len(victims)+len(n.targets))
	for v := range victims {
		gone[v] = true
	}
	for _, t := range n.targets {
		gone[t.workload] = true
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
		if n.workload.queue.node.Available(fr) < v {
			return false
		}
	}
	return true
}
