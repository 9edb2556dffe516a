// Workloads, and what they ask for. Mirrors Info of pkg/workload.

package admission

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// request is one resource a pod set asks for.
type request struct {
	name  corev1.ResourceName
	total int64 // of all pods, in the resource's units
}

// podSet is a pod set as the scheduler sees it.
type podSet struct {
	name     string
	count    int32
	minCount *int32
	// specCount is the count before reclaimable pods are taken off.
	specCount int32
	// requests in the order in which the version's assigner walks them.
	requests []request
	spec     *corev1.PodSpec
	// group is the name of the pod set group; empty for none.
	group string
	// topology: the pod set asks for topology-aware scheduling by itself.
	topology bool
}

// resized are the requests of another number of pods, each of which asks for as much. A total that is the most that can be
// counted does not tell how much that is, so it stays.
func (p *podSet) resized(count int32) []request {
	out := slices.Clone(p.scaled(count))
	for i, r := range p.requests {
		if count > 0 && quota.Amount(r.total) == quota.Unlimited {
			out[i].total = r.total
		}
	}
	return out
}

// scaled are the requests of fewer pods: the total divided by the count, rounded down, times the new count.
func (p *podSet) scaled(count int32) []request {
	if count == p.count || p.count == 0 {
		return p.requests
	}
	out := make([]request, len(p.requests))
	for i, r := range p.requests {
		out[i] = request{r.name, int64(quota.Amount(0).Add(multiply(r.total/int64(p.count), int64(count))))}
	}
	return out
}

func multiply(a, b int64) quota.Amount {
	if a == 0 || b == 0 {
		return 0
	}
	if p := a * b; p/b == a {
		return quota.Amount(p)
	}
	return quota.Unlimited
}

// item is one workload in the scheduler.
type item struct {
	charge *charge.Charge
	key    string
	uid    string
	seq    int // place in the input
	queue  *queue
	// namespace and localQueue it was submitted to.
	namespace, localQueue string
	priority              int64
	created               time.Time
	// order is the time by which it is queued.
	order time.Time
	sets  []podSet
	// local is what its LocalQueue used; nil where that does not matter.
	local *localQueueUsage
	// compared: the version compares workloads by their shape, which shapeText keeps once it is known.
	compared  bool
	shapeText string
	// like is the text of its Likeness; empty until it is asked for.
	like string
	// owned: a job watches over the Workload and gives its quota back when it is evicted.
	owned bool
	// devices: part of its charge comes from claims or classes of devices.
	devices bool
	// notReady: it is admitted, and its pods are not.
	notReady bool

	// refused is the outcome that keeps it out of the queue; nil for one that is queued.
	refused *Decision
	// blocked is the outcome of waiting in its queue, where that does not take it; nil where it does.
	blocked *Decision
	// said is what it was told in the present epoch, attempt by attempt.
	said []remark
	// turnedAway: the queue does not take its namespace, which it is told when its turn comes.
	turnedAway bool
	// invalid says what is wrong with its pods' requests, in every way Kueue may; the workload takes its turn in the queue and
	// is turned down.
	invalid []string
	// unknown is set when its decision can't be told. usageAlone: all that it lacks is who uses the quota.
	unknown    *Decision
	usageAlone bool

	held *reservation
	// stopped is what it is told when it loses its quota because its queue is stopped; empty when it keeps it.
	stopped string
	evicted bool
	// evictedBecause is what the Evicted condition of the input says; the workload is told so when its quota is gone.
	evictedBecause string
	// admitted: while it holds quota, that no check is outstanding, also when it is being evicted.
	admitted bool
	// last is the flavor scan's progress.
	last *progress
	// memo is the latest attempt.
	memo *memo

	fits map[flavorKey]string // why a flavor does not take a pod set's pods; "" when it does

	state           State
	reason, message string
	possible        []string
	cycle           int // in which it got its quota
	// turning: it was tried by turns from several flavors when the scheduler last was at rest, and its scan has not begun anew.
	turning bool
	// trail is what attempts of the present scan of flavors said.
	trail []string
	// company: it was evicted together with others and not tried since.
	company bool

	// queueStopped: its LocalQueue is stopped. Kueue forgets such a queue, and with it that others may be tried again once
	// the workload's quota comes back.
	queueStopped bool
	// doubt says why its state in a simulation is not to be relied on.
	doubt string
	// turns counts its evictions since the scheduler was at rest for the turnsIn-th time.
	turns, turnsIn int

	place   place
	version int
	// forgets: an event is under way with which a version forgets the progress of the scan.
	forgets bool
	// otherwise is where its next attempt begins if chance has it so.
	otherwise beginning
	// luck with which a scan ends that would begin anew for ever.
	luck luck
	seen map[scanState]int // progress already tried, by epoch
}

// reservation is the quota a workload holds.
type reservation struct {
	queue   *queue
	podSets []PodSet
	usage   quota.Usage
	delta   quota.Delta
	// since is when it was reserved, to the second.
	since time.Time
	// penalty is what its LocalQueue paid for it and gets back should it never be admitted; penaltyPending: for certain.
	penalty        consumption
	penaltyPending bool
}

// progress is how far the flavors were scanned in the last attempt.
type progress struct {
	// tried is, for each pod set and resource, the index of the last flavor tried; -1 after the last one.
	tried             []map[corev1.ResourceName]int
	generation, cycle int
	shape             string
	text              string // key, once it is asked for
}

// next is the index of the flavor to begin with.
func (p *progress) next(set int, name corev1.ResourceName) int {
	if p == nil || set >= len(p.tried) {
		return 0
	}
	if i, ok := p.tried[set][name]; ok {
		return i + 1
	}
	return 0
}

// pending tells that flavors are left that were not tried.
func (p *progress) pending() bool {
	if p == nil {
		return false
	}
	for _, set := range p.tried {
		for _, i := range set {
			if i != -1 {
				return true
			}
		}
	}
	return false
}

// scanState is where a workload's flavor scan stands, and what it was told: to be told something else is an event.
type scanState struct{ progress, message string }

func (it *item) scanState() scanState { return scanState{it.last.key(), it.message} }

// tried tells that the workload was tried in this epoch from where it stands.
func (it *item) tried(epoch int) bool { return it.seen[it.scanState()] == epoch+1 }

func (it *item) try(epoch int) {
	if it.seen == nil {
		it.seen = map[scanState]int{}
	}
	it.seen[it.scanState()] = epoch + 1
}

// key is equal for equal progress. The attempt that made the progress is over by the time anybody asks.
func (p *progress) key() string {
	if p == nil {
		return ""
	}
	if p.text == "" {
		text := []byte{'|'}
		for _, set := range p.tried {
			for _, r := range sortedKeys(set) {
				text = strconv.AppendInt(append(append(text, r...), '='), int64(set[r]), 10)
				text = append(text, ' ')
			}
			text = append(text, '|')
		}
		p.text = string(text)
	}
	return p.text
}

// start says where the next attempt begins: empty for the first flavors, be it that nothing was tried or everything.
func (p *progress) start() string {
	if !p.pending() {
		return ""
	}
	return p.key()
}

// reserve counts the reservation against its queue.
func (it *item) reserve(r *reservation) {
	r.delta = r.queue.node.Delta(r.usage)
	it.held = r
	r.queue.node.Add(r.delta)
	r.queue.holders = append(r.queue.holders, it)
	r.queue.tree.version++
}

// release takes it back.
func (it *item) release() {
	r := it.held
	r.queue.node.Remove(r.delta)
	r.queue.holders = slices.DeleteFunc(r.queue.holders, func(o *item) bool { return o == it })
	it.held = nil
	r.queue.tree.version++
}
