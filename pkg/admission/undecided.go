// What Kueue decides and this program does not, and what follows from that.

package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// part of what Kueue decides about a workload.
type part int

const (
	// attempt: everything about it.
	attempt part = iota
	// placement: whether a workload that quota would admit is admitted.
	placement
	// order: which of a queue's workloads comes first.
	order
	// victims: whom it preempts.
	victims
)

// undecided is something that Kueue decides and this program does not.
type undecided struct {
	// feature as docs/admission.md lists it.
	feature string
	part    part
	// why says, where the feature matters to a workload, what is unknown; empty where it does not. Others are those
	// that wait with it, or its victims.
	why func(s *scheduler, wl *schedulerWorkload, others []*schedulerWorkload) string
}

// undecidedFeatures is all of it. [Engine.Decide], [Engine.Simulate] and [Engine.Position] ask it, so that they agree.
var undecidedFeatures = []undecided{
	{
		"what depends on a feature gate that the input leaves open",
		attempt,
		func(s *scheduler, _ *schedulerWorkload, _ []*schedulerWorkload) string {
			for _, g := range decisive {
				if why, open := s.conf.Uncertain[g]; open {
					return why
				}
			}
			return ""
		},
	},
	{
		"what a feature gate that is on changes in a way not known",
		attempt,
		func(s *scheduler, _ *schedulerWorkload, _ []*schedulerWorkload) string {
			for _, g := range unknownGates {
				if s.gate(g.name) && (s.fair || !g.fair) {
					return "feature gate " + g.name + " is on, and what is decided with it is not known"
				}
			}
			return ""
		},
	},
	{"slices of elastic jobs", attempt, func(_ *scheduler, wl *schedulerWorkload, _ []*schedulerWorkload) string {
		if o := wl.charge.Workload.Object; o == nil || o.Annotations[sliceReplacementAnnotation] == "" {
			return ""
		}
		return "the workload replaces a slice of an elastic job, which is not decided here"
	}},
	{
		"queues with a `concurrentAdmissionPolicy`",
		attempt,
		func(s *scheduler, wl *schedulerWorkload, _ []*schedulerWorkload) string {
			if !s.gate(release.ConcurrentAdmission) || wl.queue == nil ||
				wl.queue.object.Spec.ConcurrentAdmissionPolicy == nil {
				return ""
			}
			return "ClusterQueue " + wl.queue.name + " has a concurrentAdmissionPolicy, which is not decided here"
		},
	},
	{
		"quotas that an orchestrator writes into `status.effectiveQuotas`",
		attempt,
		func(s *scheduler, wl *schedulerWorkload, _ []*schedulerWorkload) string {
			if !s.gate(release.DynamicQuotaOrchestration) || wl.queue == nil || wl.queue.orchestrated == "" {
				return ""
			}
			return "quota is what status.effectiveQuotas of " + wl.queue.orchestrated + " says, which is not read here"
		},
	},
	{
		"where topology-aware scheduling puts pods",
		placement,
		func(s *scheduler, wl *schedulerWorkload, _ []*schedulerWorkload) string {
			if !s.placedByTopology(wl) {
				return ""
			}
			return "where its pods go is decided by topology-aware scheduling, which is not predicted"
		},
	},
	{
		"the order under admission fair sharing, where the input does not say what LocalQueues used",
		order,
		func(_ *scheduler, wl *schedulerWorkload, others []*schedulerWorkload) string {
			return openUsage("admission fair sharing orders the queue by what LocalQueues used lately", wl, others)
		},
	},
	{
		"whom a workload preempts under admission fair sharing, where the input does not say what LocalQueues used",
		victims,
		func(s *scheduler, _ *schedulerWorkload, chosen []*schedulerWorkload) string {
			return s.openVictims(chosen)
		},
	},
}

// unknownGates are off by default and change decisions in a way that is known from release notes alone; fair: those of
// fair sharing.
var unknownGates = []struct {
	name string
	fair bool
}{
	{release.FairSharingRefill, true},
	{release.FairSharingReevaluatePreemptionCandidates, true},
	{release.ConfigurablePreemptions, false},
}

// decisive are the feature gates that change decisions.
var decisive = []string{
	release.FlavorFungibility, release.FlavorFungibilityPreserveScanProgress, release.PrioritySortingWithinCohort,
	release.FairSharingPreemptWithinNominal, release.FairSharingPrioritizeNonBorrowing,
	release.SchedulingEquivalenceHashing,
	release.PartialAdmission, release.QuotaCheckStrategy, release.PrioritizePreemptorWorkloads, release.PriorityBoost,
	release.RecomputeAssignmentUponPreemptionTargetsOverlap, release.TopologyAwareScheduling,
	release.ConcurrentAdmission,
}

// undecided says why a part of what Kueue decides about a workload is not decided here; empty when it is.
func (s *scheduler) undecided(p part, wl *schedulerWorkload, others []*schedulerWorkload) string {
	for _, u := range undecidedFeatures {
		if u.part != p {
			continue
		}
		if why := u.why(s, wl, others); why != "" {
			return why
		}
	}
	return ""
}

// openUsage says of which LocalQueues the usage must be known for a workload's place among others, and is not.
func openUsage(rule string, wl *schedulerWorkload, others []*schedulerWorkload) string {
	if wl.local == nil || !wl.queue.ledger.open {
		return ""
	}
	var with []*localQueueUsage
	for _, o := range others {
		if o.local != nil && !certainlyOrdered(wl.local, o.local) && !slices.Contains(with, o.local) {
			with = append(with, o.local)
		}
	}
	if len(with) == 0 {
		return ""
	}
	return rule + ", and " + whyOpen(append(with, wl.local))
}

// whyOpen says why it is not known which of several LocalQueues used more.
func whyOpen(of []*localQueueUsage) string {
	slices.SortFunc(of, func(a, b *localQueueUsage) int { return cmp.Compare(a.key, b.key) })
	names := func(which func(*localQueueUsage) bool) (keys []string) {
		for _, u := range of {
			if which(u) {
				keys = append(keys, u.key)
			}
		}
		return keys
	}
	for _, u := range of {
		if u.unknown != "" {
			same := names(func(o *localQueueUsage) bool { return o.unknown == u.unknown })
			return u.unknown + " " + someOf(same) + " used"
		}
	}
	return fmt.Sprintf(
		"which of %s used more depends on when Kueue last took stock",
		someOf(names(func(*localQueueUsage) bool { return true })),
	)
}

// someOf names a few.
func someOf(names []string) string {
	const most = 3
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// openVictims says why others might be preempted than those chosen: of one ClusterQueue, workloads of the LocalQueue
// that used most go first.
func (s *scheduler) openVictims(chosen []*schedulerWorkload) string {
	for _, wl := range chosen {
		if wl.held == nil || wl.local == nil || wl.evicted {
			continue
		}
		const rule = "admission fair sharing preempts workloads of the LocalQueue first that used most lately"
		if why := openUsage(rule, wl, s.otherHolders(wl, chosen)); why != "" {
			return why
		}
	}
	return ""
}

// otherHolders have quota in the queue in which a workload has it, and are none of those chosen.
func (s *scheduler) otherHolders(wl *schedulerWorkload, chosen []*schedulerWorkload) []*schedulerWorkload {
	var out []*schedulerWorkload
	for _, o := range wl.held.queue.holders {
		if !slices.Contains(chosen, o) && s.preemption.comparedByUsage(wl, o) {
			out = append(out, o)
		}
	}
	return out
}

// doubtOrder notes in a simulation that the head taken from a queue may be another, for certain or by the time that
// passes between cycles.
func (r *run) doubtOrder(q *queue, head *schedulerWorkload) {
	l := q.ledger
	if l == nil || len(l.of) < 2 ||
		(!l.open || r.doubtfulTrees[q.node.Root()].why != "") && (!l.entered || r.timeless[q]) {
		return
	}
	var others []*schedulerWorkload
	for _, wl := range r.workloads {
		if wl.queue == q && wl.place == queued && wl != head {
			others = append(others, wl)
		}
	}
	if l.entered && slices.ContainsFunc(others, func(o *schedulerWorkload) bool { return o.local != head.local }) {
		r.timeless[q] = true
	}
	if why := r.undecided(order, head, others); why != "" && r.doubtfulTrees[q.node.Root()].why == "" {
		r.doubtfulTrees[q.node.Root()] = doubtfulTree{queue: q, why: why}
	}
}

// doubtVictims notes in a simulation that others may be preempted.
func (r *run) doubtVictims(n *entry) {
	if len(n.targets) == 0 {
		return
	}
	chosen := victimsOf(n.targets)
	if why := r.undecided(victims, n.workload, chosen); why != "" {
		for _, wl := range chosen {
			for _, o := range append(r.otherHolders(wl, chosen), wl) {
				o.doubt = cmp.Or(o.doubt, why)
			}
		}
		r.doubtfulTrees[n.workload.queue.node.Root()] = doubtfulTree{n.workload.queue, why, true}
	}
}

// doubtfulTree is a tree of cohorts in which something came by an order that is not known.
type doubtfulTree struct {
	queue *queue
	why   string
	// preempted: it is about who is preempted.
	preempted bool
}

// settleDoubts says of all to whom an unknown order mattered that where they end is not known. It does not matter where
// everybody who waited got quota, and there was one flavor to get.
func (r *run) settleDoubts() {
	for _, root := range r.forest.Roots() {
		d := r.doubtfulTrees[root]
		if d.why == "" || !d.preempted && r.allServed(root) {
			delete(r.doubtfulTrees, root)
			continue
		}
		r.unknown = append(r.unknown, d.queue.name+": "+d.why)
		for _, wl := range r.inTree(root) {
			if wl.held == nil && wl.state == Pending || wl.cycle > 0 || wl.evicted {
				wl.doubt = cmp.Or(wl.doubt, d.why)
			}
		}
	}
}

func (r *run) inTree(root *quota.Node) []*schedulerWorkload {
	var out []*schedulerWorkload
	for _, wl := range r.workloads {
		if wl.queue != nil && wl.queue.node.Root() == root {
			out = append(out, wl)
		}
	}
	return out
}

func (r *run) allServed(root *quota.Node) bool {
	for _, wl := range r.inTree(root) {
		if wl.held == nil && wl.state == Pending || wl.evictionCount > 0 {
			return false
		}
		if wl.cycle > 0 && slices.ContainsFunc(wl.queue.groups, func(g group) bool { return len(g.flavors) > 1 }) {
			return false
		}
	}
	return true
}
