package explain_test

import (
	"testing"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
	"github.com/gpu-quota/kubectl-gpu-quota/test/queueload"
)

// full are the layers over the cluster of the promise, in which every pending workload waits for quota.
func full(b *testing.B, with func(*queueload.Load)) corpus.Layers {
	b.Helper()
	l := queueload.Promised
	l.Full = true
	with(&l)
	export, err := l.Export()
	if err != nil {
		b.Fatal(err)
	}
	layers, err := corpus.Load("load.json", export, config.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return layers
}

// mostForOne is how long explaining one workload may take once the input is read.
const mostForOne = 50 * time.Millisecond

// BenchmarkExplainOne explains one workload after another as a program does that was asked for this one only: nothing is
// known yet of the queues, the others or what they hold.
func BenchmarkExplainOne(b *testing.B) {
	for name, with := range variants {
		b.Run(name, func(b *testing.B) {
			l := full(b, with)
			i, best := 0, time.Hour // the best of several tells what it takes, whatever else the machine does
			for b.Loop() {
				i = (i + 997) % len(l.Charges)
				began := time.Now()
				explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges)).Explain(l.Charges[i])
				best = min(best, time.Since(began))
			}
			if best > mostForOne {
				b.Errorf("explaining one workload takes at least %s, more than %s", best, mostForOne)
			}
		})
	}
}

// BenchmarkExplainAll explains all 10,800 workloads.
func BenchmarkExplainAll(b *testing.B) {
	for name, with := range variants {
		b.Run(name, func(b *testing.B) {
			l := full(b, with)
			for b.Loop() {
				explainer := explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges))
				for _, c := range l.Charges {
					explainer.Explain(c)
				}
			}
		})
	}
}

var variants = map[string]func(*queueload.Load){
	"equal":               func(*queueload.Load) {},
	"distinct":            func(l *queueload.Load) { l.Distinct = true },
	"preempting-distinct": func(l *queueload.Load) { l.Preempting, l.Distinct = true, true },
	"fair-distinct":       func(l *queueload.Load) { l.Fair, l.Preempting, l.Distinct = true, true, true },
}
