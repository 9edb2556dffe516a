package reference

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// recorder keeps the events that tell what a cycle decided. Kueue sends them whatever it writes to a status,
// so they also tell of an attempt that changed nothing.
type recorder struct {
	mu        sync.Mutex
	decisions []outcome.CycleDecision
}

// Eventf is the recorder's interface of client-go.
func (r *recorder) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	workload, ok := regarding.(*kueue.Workload)
	if !ok {
		return
	}
	decision := outcome.CycleDecision{Workload: outcome.Reference{Namespace: workload.Namespace, Name: workload.Name}}
	if len(args) > 0 {
		note = fmt.Sprintf(note, args...)
	}
	switch reason {
	case "QuotaReserved":
		decision.Decision = "Admit"
	case "Preempted":
		decision.Decision = "Preempted"
		decision.Detail, _, _ = strings.Cut(note, ";")
	case "Pending":
		decision.Decision, decision.Detail = pendingDecision(note), note // a long note is cut off
	default:
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decisions = append(r.decisions, decision)
}

func pendingDecision(note string) string {
	switch {
	case strings.Contains(note, ". Pending the preemption of"):
		return "Preempt"
	case strings.HasPrefix(note, "Workload no longer fits"), strings.HasPrefix(note, "Workload has overlapping"):
		return "Skip"
	default:
		return "NoFit"
	}
}

// take hands over the decisions since the last call. Preemptions are issued in parallel, hence the order.
func (r *recorder) take() []outcome.CycleDecision {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.decisions
	r.decisions = nil
	slices.SortStableFunc(taken, func(a, b outcome.CycleDecision) int {
		return strings.Compare(a.Workload.Namespace+"/"+a.Workload.Name, b.Workload.Namespace+"/"+b.Workload.Name)
	})
	return taken
}
