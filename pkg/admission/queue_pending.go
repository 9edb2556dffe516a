// What waits in a ClusterQueue. Mirrors ClusterQueue of pkg/cache/queue/cluster_queue.go.

package admission

import (
	"cmp"
	"container/heap"
	"time"
)

// place is where a waiting workload is.
type place int

const (
	nowhere place = iota
	// queued: it will be tried in its turn.
	queued
	// parked: it was tried and waits for something to change in the cohort.
	parked
	// inFlight: it is being tried.
	inFlight
)

// line is what waits in a ClusterQueue.
type line struct {
	heap   entryHeap
	parked map[*item]bool
	// byShape lists queued workloads by shape; barred are the shapes that failed since the last retry.
	byShape map[string][]*item
	barred  map[string]string // shape → granular reason of the failure
	// sticky is the workload that waits for its victims; it stays in front of all others.
	sticky *item
	// preemptor is the last workload of the queue that preempted and has not been admitted since.
	preemptor *item
	// pops counts the heads taken; retriedAt is its value at the last retry of parked workloads.
	pops, retriedAt int
}

// entryHeap may hold entries that are no longer true: those whose version is not the workload's.
type entryHeap struct {
	entries []heapEntry
	line    *line
}

type heapEntry struct {
	item    *item
	version int
}

func (h *entryHeap) Len() int           { return len(h.entries) }
func (h *entryHeap) Swap(i, j int)      { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }
func (h *entryHeap) Push(x any)         { h.entries = append(h.entries, x.(heapEntry)) }
func (h *entryHeap) Less(i, j int) bool { return h.line.less(h.entries[i].item, h.entries[j].item) }
func (h *entryHeap) Pop() any {
	last := h.entries[len(h.entries)-1]
	h.entries = h.entries[:len(h.entries)-1]
	return last
}

func (l *line) less(a, b *item) bool {
	return l.compare(a, b) < 0
}

// compare is the order of the queue: queueOrderingFunc.
func (l *line) compare(a, b *item) int {
	return cmp.Or(compareUsage(a, b), trueFirst(a == l.sticky, b == l.sticky), a.compareAlone(b))
}

func newLine() line {
	return line{parked: map[*item]bool{}, byShape: map[string][]*item{}, barred: map[string]string{}, retriedAt: -1}
}

// push queues a workload.
func (l *line) push(it *item) {
	delete(l.parked, it)
	it.version++
	it.place = queued
	l.heap.line = l
	heap.Push(&l.heap, heapEntry{it, it.version})
	if it.shape() != "" {
		l.byShape[it.shape()] = append(l.byShape[it.shape()], it)
	}
}

// park sets a workload aside.
func (l *line) park(it *item) {
	it.version++
	it.place = parked
	l.parked[it] = true
}

// forget takes a workload out.
func (l *line) forget(it *item) {
	it.version++
	it.place = nowhere
	delete(l.parked, it)
	if l.preemptor == it {
		l.preemptor = nil
	}
	if l.sticky == it {
		l.setSticky(nil)
	}
}

// setSticky changes the order of the heap.
func (l *line) setSticky(it *item) {
	if l.sticky == it {
		return
	}
	l.sticky = it
	l.reorder()
}

// reorder builds the heap anew after the order of many has changed.
func (l *line) reorder() {
	l.heap.line = l
	heap.Init(&l.heap)
}

// head is the next workload, nil when none is queued.
func (l *line) head() *item {
	for l.heap.Len() > 0 {
		e := l.heap.entries[0]
		if e.version == e.item.version && e.item.place == queued {
			return e.item
		}
		heap.Pop(&l.heap)
	}
	return nil
}

// pop takes the head.
func (l *line) pop() *item {
	it := l.head()
	l.pops++
	if it != nil {
		heap.Pop(&l.heap)
		it.version++
		it.place = inFlight
	}
	return it
}

// bar parks all queued workloads of a shape that failed, unseen, and keeps new ones of it from being queued.
func (l *line) bar(shape, reason string) []*item {
	l.barred[shape] = reason
	var moved []*item
	for _, it := range l.byShape[shape] {
		if it.place == queued && it.shape() == shape {
			l.park(it)
			moved = append(moved, it)
		}
	}
	delete(l.byShape, shape)
	return moved
}

// retry queues everything that is parked; false when that is nothing.
func (l *line) retry() bool {
	l.retriedAt = l.pops
	clear(l.barred)
	any := false
	for it := range l.parked {
		if !it.turnedAway {
			l.push(it)
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
func (it *item) compare(o *item) int { return cmp.Or(compareUsage(it, o), it.compareAlone(o)) }

// compareAlone is baseCompareFunc: the order as far as LocalQueues do not matter.
func (it *item) compareAlone(o *item) int {
	return cmp.Or(cmp.Compare(o.priority, it.priority), compareTimes(it.order, o.order), cmp.Compare(it.uid, o.uid), cmp.Compare(it.seq, o.seq), cmp.Compare(it.key, o.key))
}
