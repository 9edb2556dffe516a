package admission

import (
	"strings"
	"testing"
)

// TestPreemptionThatGoesRoundInCirclesIsNotFollowedForever: with fair sharing a queue's own high priorities may evict
// the low ones and borrow, and others take that back from them, without end.
func TestPreemptionThatGoesRoundInCirclesIsNotFollowedForever(t *testing.T) {
	l := load{queues: 25, cohorts: 1, pending: 1250, running: 100, fair: true, preempting: true}
	sim := l.engine(t).Simulate(false)
	if len(sim.Unknown) != 1 || !strings.HasPrefix(sim.Unknown[0], "cohort-0: preemption goes round in circles among team/w") {
		t.Errorf("said to be unknown: %q; want the cohort whose preemption goes round in circles", sim.Unknown)
	}
	states := map[State]int{}
	for _, w := range sim.Workloads {
		states[w.State]++
		if w.State == Unknown && (w.Why == "" || w.PodSets != nil) {
			t.Errorf("%s is unknown with why %q and pod sets %v", w.Charge.Workload.Name, w.Why, w.PodSets)
		}
	}
	if states[Unknown] < 2 || states[Admitted] == 0 || states[Pending] == 0 {
		t.Errorf("got states %v; want those in the circle unknown, and others as they are", states)
	}
}

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
