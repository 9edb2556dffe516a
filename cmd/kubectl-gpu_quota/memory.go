package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// roomyPercent is Go's own.
	roomyPercent = 100
	// usualPercent trades a little processor time for memory: nearly all that is read stays in use, so a heap
	// twice that size, as Go allows itself by default, would be half empty.
	usualPercent = 50
	// lintPercent is that of lint, which reads manifests: they are small, and it is run before every commit. The first
	// 400 MiB (of a heap that starts at 4 MiB) are not collected at all, and lintHeap is the budget after that.
	lintPercent = 10_000
	lintHeap    = 512 << 20
)

// pacer decides how far the heap may grow before garbage is collected. The heap is kept within a budget while that
// costs little; where what is in use does not fit into it, the usual percentage holds.
type pacer struct {
	budget atomic.Int64
	// most is the percentage while there is room in the budget.
	most int64
}

// tightPercent is the least percentage: below that, collecting takes as long as the work.
const tightPercent = 6

// percent is the percentage for a heap of which live bytes are in use.
func (p *pacer) percent(live int64) int {
	budget := p.budget.Load()
	if budget <= 0 {
		return usualPercent
	}
	if room := (budget - live) * 100 / max(live, 1); room >= tightPercent {
		return int(min(room, p.most))
	}
	return usualPercent
}

// idleMemory is what the program takes beside its heap, and memoryPerByte how many bytes both may take for one of an
// export. The limit is three: the rest is for what is made while garbage is collected, and for what was freed and not
// yet given back.
const idleMemory, memoryPerByte = 72 << 20, 2.25

// reads tells the pacer how large the input is.
func (p *pacer) reads(size int64) {
	if budget := int64(float64(size)*memoryPerByte) - idleMemory; budget > p.budget.Load() {
		p.budget.Store(budget)
	}
}

// paceGC sets the percentage after each collection. The user's own GOGC stays.
func paceGC(p *pacer) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(p.percent(0))
	p.watch()
}

// watch adjusts the percentage when an object that nothing holds has been collected, and makes the next one.
func (p *pacer) watch() {
	runtime.AddCleanup(&struct{ _ [16]byte }{}, func(p *pacer) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if sample[0].Value.Kind() == metrics.KindUint64 {
			debug.SetGCPercent(p.percent(int64(sample[0].Value.Uint64())))
		}
		p.watch()
	}, p)
}
