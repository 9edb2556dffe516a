package admission

import (
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/queueload"
)

// TestASimulationEndsAlikeEachTime holds the order of decisions to the input alone.
func TestASimulationEndsAlikeEachTime(t *testing.T) {
	for name, l := range map[string]queueload.Load{
		"preemption":   {Queues: 12, Cohorts: 2, Pending: 300, Running: 48, Preempting: true, Distinct: true, Nested: true},
		"fair sharing": {Queues: 12, Cohorts: 2, Pending: 300, Running: 48, Preempting: true, Fair: true, Nested: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := engineOf(t, l)
			told := func() string {
				var b strings.Builder
				sim := e.Simulate(false)
				for _, c := range sim.Timeline {
					for _, s := range c.Steps {
						b.WriteString(s.Workload + " " + string(s.Decision) + " " + s.Detail + "\n")
					}
				}
				for _, w := range sim.Workloads {
					b.WriteString(w.Charge.Workload.Name + " " + string(w.State) + " " + w.Message + "\n")
				}
				return b.String()
			}
			first := told()
			for range 3 {
				if told() != first {
					t.Fatal("the same input was decided otherwise")
				}
			}
		})
	}
}
