package admission

import (
	"strings"
	"testing"
)

// TestASimulationEndsAlikeEachTime holds the order of decisions to the input alone.
func TestASimulationEndsAlikeEachTime(t *testing.T) {
	for name, l := range map[string]load{
		"preemption":   {queues: 12, cohorts: 2, pending: 300, running: 48, preempting: true, distinct: true, nested: true},
		"fair sharing": {queues: 12, cohorts: 2, pending: 300, running: 48, preempting: true, fair: true, nested: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := l.engine(t)
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
