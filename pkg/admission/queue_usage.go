// The order by what LocalQueues used. Mirrors pkg/util/admissionfairsharing and pkg/cache/queue/afs.

package admission

import (
	"cmp"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// Admission fair sharing, which puts the workloads of a ClusterQueue in the order of what their LocalQueues used
// lately. Mirrors pkg/util/admissionfairsharing (CalculateUsage, CalculateDecayedConsumed, CalculateEntryPenalty) and
// the ledger of pkg/cache/queue/afs.

// usageLedger is what the LocalQueues of one ClusterQueue used.
type usageLedger struct {
	halfLife, interval time.Duration
	weights            map[corev1.ResourceName]float64
	// reservedCounts: usage counts from the reservation of quota on, else from admission.
	reservedCounts bool
	// nonPositiveLast: a LocalQueue with a weight of zero or less comes last.
	nonPositiveLast bool
	// covered are the resources for which a workload pays when it enters; nil for all.
	covered func(corev1.ResourceName) bool
	of      map[string]*localQueueUsage // by LocalQueue
	// open: of some LocalQueue only bounds are known.
	open bool
	// entered: workloads got quota since the start of a simulation.
	entered bool
}

// localQueueUsage is what one LocalQueue used. What is known of it are bounds, and in between what it is if Kueue ran
// all the time; where the input says everything all three are equal.
type localQueueUsage struct {
	key, name          string
	weight             float64
	least, usual, most consumption
	// pending are entry penalties that are not settled yet.
	pending consumption
	// unknown begins a sentence that says why it is not known what the queue used; empty where it is.
	unknown string
	// written is when the status was from which the usage is known.
	written time.Time
	// bounds and value are the usage by which the queue is ordered.
	low, value, high float64
}

// consumption is an amount of each resource in whole units.
type consumption map[corev1.ResourceName]float64

func (c consumption) add(o consumption, factor float64) {
	for name, v := range o {
		c[name] += v * factor
	}
}

// fade is CalculateDecayedConsumed: a part of the history gives way to what is used now.
func (c consumption) fade(used consumption, part float64) {
	for name := range c {
		c[name] *= 1 - part
	}
	c.add(used, part)
}

func wholeUnits(name corev1.ResourceName, v int64) float64 {
	if name == corev1.ResourceCPU {
		return float64(v) / 1000
	}
	return float64(v)
}

// ledger opens the books of a queue; nil where it is not ordered by usage. It has no entries yet.
func (e *Engine) ledger(q *queue) *usageLedger {
	config, scope := e.conf.Configuration.AdmissionFairSharing, q.object.Spec.AdmissionScope
	if config == nil || scope == nil || scope.AdmissionMode != kueue.UsageBasedAdmissionFairSharing ||
		!e.conf.Enabled(release.AdmissionFairSharing) {
		return nil
	}
	l := &usageLedger{
		halfLife: config.UsageHalfLifeTime.Duration, interval: config.UsageSamplingInterval.Duration,
		weights:         config.ResourceWeights,
		reservedCounts:  e.conf.Enabled(release.AdmissionFairSharingAnchorAtQuotaReservation),
		nonPositiveLast: e.conf.Behavior.AFSNonPositiveWeightLast, of: map[string]*localQueueUsage{},
	}
	if e.conf.IgnoresUndeclared() {
		l.covered = func(name corev1.ResourceName) bool { return q.covers(name) != nil }
	}
	return l
}

// usageOf is the entry of a workload's LocalQueue, made when it is first asked for; nil where usage does not matter.
func (e *Engine) usageOf(q *queue, namespace, name string, fresh bool) *localQueueUsage {
	if q == nil || q.ledger == nil {
		return nil
	}
	l, key := q.ledger, namespace+"/"+name
	if u := l.of[key]; u != nil {
		return u
	}
	u := &localQueueUsage{
		key:     key,
		name:    name,
		weight:  1,
		least:   consumption{},
		usual:   consumption{},
		most:    consumption{},
		pending: consumption{},
	}
	l.of[key] = u
	o := e.snap.Get(cluster.LocalQueue, namespace, name)
	lq := cluster.As[*kueue.LocalQueue](o)
	if lq != nil && lq.Spec.FairSharing != nil && lq.Spec.FairSharing.Weight != nil {
		u.weight = lq.Spec.FairSharing.Weight.AsApproximateFloat64()
	}
	switch {
	case l.halfLife == 0: // nothing is remembered
	case !e.conf.Behavior.AFSPerWorkloadLedger && q.object.Spec.AdmissionChecksStrategy != nil:
		u.unknown = "this version of Kueue may count penalties of workloads with admission checks for ever, " +
			"and does not tell what"
	case fresh || o != nil && o.Laid: // nothing was used yet
	case lq == nil || lq.Status.FairSharing == nil || lq.Status.FairSharing.AdmissionFairSharingStatus == nil:
		u.unknown = "the input does not tell what"
	default:
		st := lq.Status.FairSharing.AdmissionFairSharingStatus
		u.written = st.LastUpdate.Time
		for name, v := range st.ConsumedResources {
			for _, of := range []consumption{u.least, u.usual, u.most} {
				of[name] = v.AsApproximateFloat64()
			}
		}
	}
	l.weigh(u)
	return u
}

// fading is the part of what was consumed that is forgotten after a time.
func (l *usageLedger) fading(after time.Duration) float64 {
	if l.halfLife == 0 {
		return 0
	}
	return 1 - math.Pow(0.5, after.Seconds()/l.halfLife.Seconds())
}

// penalty is what a workload's LocalQueue pays when the workload gets quota.
func (l *usageLedger) penalty(wl *schedulerWorkload) consumption {
	out, part := consumption{}, l.fading(l.interval)
	for i := range wl.sets {
		for _, r := range wl.sets[i].requests {
			if l.covered == nil || l.covered(r.name) {
				out[r.name] += wholeUnits(r.name, r.total) * part
			}
		}
	}
	return out
}

// weigh works out the usage from what was consumed.
func (l *usageLedger) weigh(u *localQueueUsage) {
	a, b := l.usage(u, u.least), l.usage(u, u.most)
	switch {
	case u.unknown == "" || u.weight <= 0 && l.nonPositiveLast:
	case u.weight > 0:
		b = math.MaxFloat64
	default: // nothing, or anything, divided by zero or less
		a, b = math.NaN(), math.Inf(1)
	}
	u.low, u.value, u.high = a, l.usage(u, u.usual), b
	if cmp.Compare(a, b) > 0 {
		u.low, u.high = b, a
	}
	l.open = l.open || cmp.Compare(u.low, u.high) != 0
}

// usage is CalculateUsage. In releases that divide by a weight of zero, nothing used makes a number that sorts first.
func (l *usageLedger) usage(u *localQueueUsage, consumed consumption) float64 {
	if u.weight <= 0 && l.nonPositiveLast {
		return math.Inf(1)
	}
	sum := consumption{}
	sum.add(consumed, 1)
	sum.add(u.pending, 1)
	total := 0.0
	for _, name := range sortedKeys(sum) {
		weight, found := l.weights[name]
		if !found {
			weight = 1
		}
		total += weight * sum[name]
	}
	return total / u.weight
}

// certainlyOrdered reports whether bounds do not leave open which of two LocalQueues used more.
func certainlyOrdered(a, b *localQueueUsage) bool {
	return a == b || cmp.Compare(a.high, b.low) < 0 || cmp.Compare(b.high, a.low) < 0 ||
		cmp.Compare(a.low, a.high) == 0 && cmp.Compare(b.low, b.high) == 0
}

// compareUsage puts workloads of the LocalQueue first that used less.
func compareUsage(a, b *schedulerWorkload) int {
	if a.local == nil || b.local == nil || a.local == b.local {
		return 0
	}
	return cmp.Compare(a.local.value, b.local.value)
}

// recordPresent adds what the status of a LocalQueue does not say of a workload that holds quota: a penalty that is not
// settled, which Kueue forgets when it starts anew, and one settled after the status was written.
func recordPresent(wl *schedulerWorkload) {
	u := wl.local
	if u == nil || wl.held.queue != wl.queue {
		return
	}
	l := wl.queue.ledger
	settled := apimeta.FindStatusCondition(wl.charge.Workload.Object.Status.Conditions, kueue.WorkloadAdmitted)
	if l.reservedCounts {
		settled = apimeta.FindStatusCondition(wl.charge.Workload.Object.Status.Conditions, kueue.WorkloadQuotaReserved)
	}
	counts := wl.admitted || l.reservedCounts
	if counts && settled != nil && !settled.LastTransitionTime.After(u.written) {
		return
	}
	penalty := l.penalty(wl)
	u.usual.add(penalty, 1)
	u.most.add(penalty, 1)
	if counts {
		part := l.fading(l.interval)
		u.least.fade(nil, part)
		u.most.add(consumedBy(wl), part)
	} else {
		wl.held.penalty = penalty
	}
	l.weigh(u)
}

// enter charges a workload's LocalQueue for the quota it got.
func (l *usageLedger) enter(wl *schedulerWorkload) {
	penalty := l.penalty(wl)
	l.entered = true
	if wl.admitted || l.reservedCounts {
		for _, of := range []consumption{wl.local.least, wl.local.usual, wl.local.most} {
			of.add(penalty, 1)
		}
	} else {
		wl.local.pending.add(penalty, 1)
		wl.held.penalty, wl.held.penaltyPending = penalty, true
	}
	l.weigh(wl.local)
}

// leave takes a penalty back that was not settled.
func (l *usageLedger) leave(wl *schedulerWorkload, held *reservation) {
	if held.penaltyPending {
		wl.local.pending.add(held.penalty, -1)
	} else {
		wl.local.usual.add(held.penalty, -1)
		wl.local.most.add(held.penalty, -1)
	}
	l.weigh(wl.local)
}

// pass lets time go by: history fades and what is held counts. Kueue does so in steps of the sampling interval.
func (l *usageLedger) pass(q *queue, after time.Duration) {
	used := map[*localQueueUsage]consumption{}
	for _, wl := range q.holders {
		if wl.local != nil && (wl.admitted || l.reservedCounts) {
			if used[wl.local] == nil {
				used[wl.local] = consumption{}
			}
			used[wl.local].add(consumedBy(wl), 1)
		}
	}
	part := l.fading(after)
	for _, u := range l.of {
		for _, of := range []consumption{u.least, u.usual, u.most} {
			of.fade(used[u], part)
		}
		l.weigh(u)
	}
}

// consumedBy is what a workload holds, of each resource in whole units.
func consumedBy(wl *schedulerWorkload) consumption {
	out := consumption{}
	for _, fr := range wl.held.usage.Sorted() {
		out[fr.Resource] += wholeUnits(fr.Resource, int64(min(wl.held.usage[fr], quota.Unlimited)))
	}
	return out
}

// pass lets time go by in a replay until the next arrival.
func (r *run) pass(until time.Time) {
	if r.clock.IsZero() || !until.After(r.clock) {
		return
	}
	for _, name := range r.names {
		if q := r.queues[name]; q.ledger != nil {
			q.ledger.pass(q, until.Sub(r.clock))
			q.pending.reorder()
		}
	}
}
