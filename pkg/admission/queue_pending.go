// What waits in a ClusterQueue. Mirrors ClusterQueue of pkg/cache/queue/cluster_queue.go.

package admission

import (
	"cmp"
	"container/heap"
	"time"
)

// queuePlace is where a waiting workload is.
type queuePlace int

const (
	notQueued queuePlace = iota
	// queued: it will be tried in its turn.
	queued
	// inadmissible: it was tried and waits for something to change in the cohort.
	inadmissible
	// inFlight: it is being tried.
	inFlight
)

// pendingQueue is what waits in a ClusterQueue.
type pendingQueue struct {
	heap         pendingHeap
	inadmissible map[*schedulerWorkload]bool
	// byHash lists queued workloads by hash; knownToFail are the hashes that failed since the last retry.
	byHash      map[string][]*schedulerWorkload
	knownToFail map[string]string // hash → granular reason of the failure
	// sticky is the workload that waits for its victims; it stays in front of all others.
	sticky *schedulerWorkload
	// preemptor is the last workload of the queue that preempted and has not been admitted since.
	preemptor *schedulerWorkload
	// popCycle counts the heads taken; inadmissibleCycle is its value when the inadmissible ones were queued last.
	popCycle, inadmissibleCycle int
}

// pendingHeap may hold entries that are no longer true: those whose version is not the workload's.
type pendingHeap struct {
	entries []heapSlot
	queue   *pendingQueue
}

type heapSlot struct {
	workload *schedulerWorkload
	version  int
}

func (h *pendingHeap) Len() int      { return len(h.entries) }
func (h *pendingHeap) Swap(i, j int) { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }
func (h *pendingHeap) Push(x any)    { h.entries = append(h.entries, x.(heapSlot)) }
func (h *pendingHeap) Less(i, j int) bool {
	return h.queue.less(h.entries[i].workload, h.entries[j].workload)
}
func (h *pendingHeap) Pop() any {
	last := h.entries[len(h.entries)-1]
	h.entries = h.entries[:len(h.entries)-1]
	return last
}

func (l *pendingQueue) less(a, b *schedulerWorkload) bool {
	return l.compare(a, b) < 0
}

// compare is the order of the queue: queueOrderingFunc.
func (l *pendingQueue) compare(a, b *schedulerWorkload) int {
	return cmp.Or(compareUsage(a, b), trueFirst(a == l.sticky, b == l.sticky), a.compareAlone(b))
}

func newPendingQueue() pendingQueue {
	return pendingQueue{
		inadmissible:      map[*schedulerWorkload]bool{},
		byHash:            map[string][]*schedulerWorkload{},
		knownToFail:       map[string]string{},
		inadmissibleCycle: -1,
	}
}

// push queues a workload.
func (l *pendingQueue) push(wl *schedulerWorkload) {
	delete(l.inadmissible, wl)
	wl.version++
	wl.place = queued
	l.heap.queue = l
	heap.Push(&l.heap, heapSlot{wl, wl.version})
	if wl.schedulingHash() != "" {
		l.byHash[wl.schedulingHash()] = append(l.byHash[wl.schedulingHash()], wl)
	}
}

// setAside sets a workload aside.
func (l *pendingQueue) setAside(wl *schedulerWorkload) {
	wl.version++
	wl.place = inadmissible
	l.inadmissible[wl] = true
}

// forget takes a workload out.
func (l *pendingQueue) forget(wl *schedulerWorkload) {
	wl.version++
	wl.place = notQueued
	delete(l.inadmissible, wl)
	if l.preemptor == wl {
		l.preemptor = nil
	}
	if l.sticky == wl {
		l.setSticky(nil)
	}
}

// setSticky changes the order of the heap.
func (l *pendingQueue) setSticky(wl *schedulerWorkload) {
	if l.sticky == wl {
		return
	}
	l.sticky = wl
	l.reorder()
}

// reorder builds the heap anew after the order of many has changed.
func (l *pendingQueue) reorder() {
	l.heap.queue = l
	heap.Init(&l.heap)
}

// head is the next workload, nil when none is queued.
func (l *pendingQueue) head() *schedulerWorkload {
	for l.heap.Len() > 0 {
		e := l.heap.entries[0]
		if e.version == e.workload.version && e.workload.place == queued {
			return e.workload
		}
		heap.Pop(&l.heap)
	}
	return nil
}

// pop takes the head.
func (l *pendingQueue) pop() *schedulerWorkload {
	wl := l.head()
	l.popCycle++
	if wl != nil {
		heap.Pop(&l.heap)
		wl.version++
		wl.place = inFlight
	}
	return wl
}

// handleInadmissibleHash sets all queued workloads of a hash that failed aside, unseen, and keeps new ones of it from
// being queued.
func (l *pendingQueue) handleInadmissibleHash(shape, reason string) []*schedulerWorkload {
	l.knownToFail[shape] = reason
	var moved []*schedulerWorkload
	for _, wl := range l.byHash[shape] {
		if wl.place == queued && wl.schedulingHash() == shape {
			l.setAside(wl)
			moved = append(moved, wl)
		}
	}
	delete(l.byHash, shape)
	return moved
}

// queueInadmissible queues everything that is set aside; false when that is nothing.
func (l *pendingQueue) queueInadmissible() bool {
	l.inadmissibleCycle = l.popCycle
	clear(l.knownToFail)
	any := false
	for wl := range l.inadmissible {
		if !wl.namespaceMismatch {
			l.push(wl)
			any = true
		}
	}
	return any
}

// compareTimes orders times; what was never created yet is the latest.
func compareTimes(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return trueFirst(!a.IsZero(), !b.IsZero())
	}
	return a.Compare(b)
}

// compare is the order of workloads in one queue: where admission fair sharing decides, the LocalQueue that used less;
// then the higher priority, the earlier, the smaller UID.
func (wl *schedulerWorkload) compare(o *schedulerWorkload) int {
	return cmp.Or(compareUsage(wl, o), wl.compareAlone(o))
}

// compareAlone is baseCompareFunc: the order as far as LocalQueues do not matter.
func (wl *schedulerWorkload) compareAlone(o *schedulerWorkload) int {
	return cmp.Or(
		cmp.Compare(o.priority, wl.priority),
		compareTimes(wl.order, o.order),
		cmp.Compare(wl.uid, o.uid),
		cmp.Compare(wl.seq, o.seq),
		cmp.Compare(wl.key, o.key),
	)
}
