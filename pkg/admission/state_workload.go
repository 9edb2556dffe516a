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

// resized are the requests of another number of pods, each of which asks for as much. A total that is the most that can
// be counted does not say how much that is, so it stays.
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

// schedulerWorkload is one workload in the scheduler.
type schedulerWorkload struct {
	identity
	requirements
	standing
	holding
	scan
	queueEntry
	history conditionHistory
}

// identity is what a workload is, whatever becomes of it.
type identity struct {
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
	// local is what its LocalQueue used; nil where that does not matter.
	local *localQueueUsage
	// queueStopped: its LocalQueue is stopped. Kueue forgets such a queue, and with it that others may be tried again
	// once the workload's quota comes back.
	queueStopped bool
	// owned: a job watches over the Workload and gives its quota back when it is evicted.
	owned bool
}

// requirements are what it asks for.
type requirements struct {
	sets []podSet
	// devices: part of its charge comes from claims or classes of devices.
	devices bool
	// hashed: the version compares workloads by their hash, kept once it is known. namesIgnored: names of pod sets are
	// no part of it.
	hashed, namesIgnored bool
	hash                 string
	// likenessText is the text of its Likeness; empty until it is asked for.
	likenessText string
	fits         map[flavorKey]string // why a flavor does not take a pod set's pods; "" when it does
}

// standing is where it stands, and what its condition says.
type standing struct {
	state           State
	reason, message string
	possible        []string
	// refused is the outcome that keeps it out of the queue; nil for one that is queued.
	refused *Decision
	// blocked is the outcome of waiting in its queue, where that does not take it; nil where it does.
	blocked *Decision
	// namespaceMismatch: the queue does not take its namespace, which its condition says once it has been tried.
	namespaceMismatch bool
	// invalid says what is wrong with its pods' requests, in every way Kueue may; the workload is tried like others and
	// refused then.
	invalid []string
	// unknown is set when its decision can't be known. usageAlone: all that it lacks is who uses the quota.
	unknown    *Decision
	usageAlone bool
	// doubt says why its state in a simulation is not to be relied on.
	doubt string
}

// take makes a decision the workload's own.
func (st *standing) take(d *Decision) {
	st.state, st.reason, st.message, st.possible = d.State, d.Reason, d.Message, d.Possible
}

// holding is the quota it has, and how it loses it.
type holding struct {
	held *reservation
	// cycle in which it got its quota.
	cycle int
	// admitted: while it holds quota, that no check is outstanding, also when it is being evicted.
	admitted bool
	// notReady: it is admitted, and its pods are not.
	notReady bool
	// stopped is what its condition says when it loses its quota because its queue is stopped; empty when it keeps it.
	stopped string
	evicted bool
	// evictedBecause is what the Evicted condition of the input says, and the workload's own once its quota is gone.
	evictedBecause string
	// evictionCount counts its evictions since the scheduler was at rest for the turnsIn-th time.
	evictionCount, countedIn int
}

// scan is how far its scan over flavors is.
type scan struct {
	// position is where the latest attempt ended.
	position *scanPosition
	// memo is the latest attempt.
	memo *memo
	seen map[attemptState]int // positions already tried, by epoch
	// luckyEnd with which a scan ends that would begin anew for ever.
	luckyEnd luckyEnd
}

// queueEntry is its place in its queue.
type queueEntry struct {
	place queuePlace
	// version counts its moves.
	version int
}

// reservation is the quota a workload holds.
type reservation struct {
	queue   *queue
	podSets []PodSet
	usage   quota.Usage
	delta   quota.Delta
	// since is when it was reserved, to the second.
	since time.Time
	// penalty is what its LocalQueue paid for it and gets back should it never be admitted; penaltyPending: for
	// certain.
	penalty        consumption
	penaltyPending bool
}

// scanPosition is how far the flavors were scanned in the last attempt.
type scanPosition struct {
	// tried is, for each pod set and resource, the index of the last flavor tried; -1 after the last one.
	tried             []map[corev1.ResourceName]int
	generation, cycle int
	shape             string
	text              string // key, once it is asked for
}

// next is the index of the flavor to begin with.
func (p *scanPosition) next(set int, name corev1.ResourceName) int {
	if p == nil || set >= len(p.tried) {
		return 0
	}
	if i, ok := p.tried[set][name]; ok {
		return i + 1
	}
	return 0
}

// pending reports whether flavors are left that were not tried.
func (p *scanPosition) pending() bool {
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

// attemptState is where a workload's flavor scan stands, and what its condition says: to write something else is an
// event.
type attemptState struct{ progress, message string }

func (wl *schedulerWorkload) attemptState() attemptState {
	return attemptState{wl.position.key(), wl.message}
}

// tried reports whether the workload was tried in this epoch from where it stands.
func (wl *schedulerWorkload) tried(epoch int) bool { return wl.seen[wl.attemptState()] == epoch+1 }

func (wl *schedulerWorkload) try(epoch int) {
	if wl.seen == nil {
		wl.seen = map[attemptState]int{}
	}
	wl.seen[wl.attemptState()] = epoch + 1
}

// key is equal for equal positions. The attempt that made the position is over by the time anybody asks.
func (p *scanPosition) key() string {
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
func (p *scanPosition) start() string {
	if !p.pending() {
		return ""
	}
	return p.key()
}

// reserve counts the reservation against its queue.
func (wl *schedulerWorkload) reserve(r *reservation) {
	r.delta = r.queue.node.Delta(r.usage)
	wl.held = r
	r.queue.node.Add(r.delta)
	r.queue.holders = append(r.queue.holders, wl)
	r.queue.tree.version++
}

// release takes it back.
func (wl *schedulerWorkload) release() {
	r := wl.held
	r.queue.node.Remove(r.delta)
	r.queue.holders = slices.DeleteFunc(r.queue.holders, func(o *schedulerWorkload) bool { return o == wl })
	wl.held = nil
	r.queue.tree.version++
}
