package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
	"github.com/gpu-quota/kubectl-gpu-quota/test/queueload"
)

// engineOf builds the engine of a load, once for a benchmark.
func engineOf(tb testing.TB, l queueload.Load) *Engine {
	tb.Helper()
	export, err := l.Export()
	if err != nil {
		tb.Fatal(err)
	}
	snap, err := cluster.FromBytes(context.Background(), "load.json", export)
	if err != nil || len(snap.Problems) > 0 {
		tb.Fatal(err, snap.Problems)
	}
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap, selector.Of(conf.Behavior)))
	return New(engine, engine.Charges(workload.Find(snap, conf, workload.Options{})))
}

// BenchmarkSimulate runs the cluster of the promise in its variants until nothing changes.
func BenchmarkSimulate(b *testing.B) {
	for _, of := range []struct {
		name string
		with func(*queueload.Load)
	}{
		{"equal", func(*queueload.Load) {}},
		{"distinct", func(l *queueload.Load) { l.Distinct = true }},
		{"preempting", func(l *queueload.Load) { l.Preempting = true }},
		{"preempting-distinct", func(l *queueload.Load) { l.Preempting, l.Distinct = true, true }},
		{"preempting-distinct-nested", func(l *queueload.Load) { l.Preempting, l.Distinct, l.Nested = true, true, true }},
		{"fair", func(l *queueload.Load) { l.Fair, l.Preempting = true, true }},
		{"fair-distinct", func(l *queueload.Load) { l.Fair, l.Preempting, l.Distinct = true, true, true }},
		{"fair-distinct-nested", func(l *queueload.Load) { l.Fair, l.Preempting, l.Distinct, l.Nested = true, true, true, true }},
		{"replay", func(l *queueload.Load) {}},
		{"replay-preempting-distinct", func(l *queueload.Load) { l.Preempting, l.Distinct = true, true }},
	} {
		b.Run(of.name, func(b *testing.B) {
			l := queueload.Promised
			of.with(&l)
			e := engineOf(b, l)
			cycles := 0
			b.ReportAllocs()
			for b.Loop() {
				cycles = len(e.Simulate(strings.HasPrefix(of.name, "replay")).Timeline)
			}
			b.ReportMetric(float64(cycles), "cycles")
		})
	}
}

// BenchmarkCycleBesideFinishedWorkloads runs the same cycles beside more and more workloads that have ended. The time
// for each cycle, without that for reading the input, must not grow.
func BenchmarkCycleBesideFinishedWorkloads(b *testing.B) {
	for _, finished := range []int{0, 10000, 40000} {
		b.Run(fmt.Sprintf("finished=%d", finished), func(b *testing.B) {
			l := queueload.Load{Queues: 200, Cohorts: 8, Pending: 2000, Running: 800, Finished: finished, Distinct: true}
			e := engineOf(b, l)
			cycles := 0
			for b.Loop() {
				b.StopTimer()
				s, _ := e.state(false)
				r := newRun(s)
				b.StartTimer()
				for _, wl := range s.workloads {
					if wl.state == Pending {
						r.enqueue(wl)
					}
				}
				r.settle()
				cycles = len(r.timeline)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cycles), "ns/cycle")
		})
	}
}

// BenchmarkDecide asks about one workload after another in the cluster of the promise.
func BenchmarkDecide(b *testing.B) {
	for _, fair := range []bool{false, true} {
		b.Run(fmt.Sprintf("fair=%t", fair), func(b *testing.B) {
			l := queueload.Promised
			l.Preempting, l.Distinct, l.Fair = true, true, fair
			e := engineOf(b, l)
			e.Decide(e.charges[0])
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 997) % len(e.charges)
				e.Decide(e.charges[i])
			}
		})
	}
}
