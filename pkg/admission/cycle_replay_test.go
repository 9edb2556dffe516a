package admission_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestReplayEndsWhereKueueEnded replays every scenario whose dump tells the whole story, for every version recorded.
func TestReplayEndsWhereKueueEnded(t *testing.T) {
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if !o.Replayable {
			return
		}
		l := o.Load(t, o.Dump(t))
		sim := admission.New(l.Engine, l.Charges).Simulate(true)
		for _, want := range o.Workloads {
			i := slices.IndexFunc(sim.Workloads, func(w admission.Outcome) bool {
				return w.State != admission.None && w.Charge.Workload.Name == want.Workload
			})
			if i < 0 {
				i = slices.IndexFunc(sim.Workloads, func(w admission.Outcome) bool { return w.State != admission.None && want.Is(w.Charge.Workload) })
			}
			if i < 0 {
				t.Errorf("%s: not in the simulation", want)
				continue
			}
			compareOutcome(t, want, sim.Workloads[i])
		}
		if t.Failed() {
			for _, c := range sim.Timeline {
				for _, s := range c.Steps {
					t.Logf("cycle %d: %s %s: %s %s", c.Number, s.ClusterQueue, s.Workload, s.Decision, s.Detail)
				}
			}
		}
	})
}

func compareOutcome(t *testing.T, want corpus.Workload, got admission.Outcome) {
	if want.Admission != nil {
		if got.PodSets == nil {
			t.Errorf("%s: %s %q, Kueue admitted it", want, got.State, got.Message+got.Why)
			return
		}
		for i, ps := range want.Admission.PodSetAssignments {
			g := got.PodSets[i]
			if g.Count != ps.Count || fmt.Sprint(g.Flavors) != fmt.Sprint(ps.Flavors) {
				t.Errorf("%s: pod set %s: %d pods in %v, Kueue: %d in %v", want, ps.Name, g.Count, g.Flavors, ps.Count, ps.Flavors)
			}
			for _, name := range slices.Sorted(maps.Keys(ps.ResourceUsage)) {
				if v := charge.Units(name, ps.ResourceUsage[name]); g.Usage[name] != v {
					t.Errorf("%s: pod set %s: usage of %s is %d, Kueue: %d", want, ps.Name, name, g.Usage[name], v)
				}
			}
		}
		return
	}
	if got.PodSets != nil {
		t.Errorf("%s: admitted to %v, Kueue did not", want, got.PodSets)
		return
	}
	message, reason := "", ""
	if c := want.Condition("QuotaReserved"); c != nil {
		message, reason = c.Message, c.Reason
	}
	if masked(got.Message) != masked(message) && !slices.ContainsFunc(got.Possible, func(m string) bool { return masked(m) == masked(message) }) {
		t.Errorf("%s: %s\n got %q\nwant %q\n or %q", want, got.State, got.Message, message, got.Possible)
	}
	if got.Reason != reason && len(got.Possible) == 0 {
		t.Errorf("%s: reason %q, want %q", want, got.Reason, reason)
	}
}

// uids differ from recording to recording.
var uids = regexp.MustCompile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

func masked(message string) string { return uids.ReplaceAllString(message, "*") }
