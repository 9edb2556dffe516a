package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestReplayOfTheCommandEndsWhereKueueEnded replays every scenario whose dump tells the whole story, for every version
// recorded, as a user would, and compares the JSON with what that version left behind.
func TestReplayOfTheCommandEndsWhereKueueEnded(t *testing.T) {
	compared, supposed := 0, 0
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if !o.Replayable {
			return
		}
		var gates []string
		for _, name := range slices.Sorted(maps.Keys(o.FeatureGates)) {
			gates = append(gates, fmt.Sprintf("%s=%t", name, o.FeatureGates[name]))
		}
		out, errOut, code := run(t, "simulate", "--replay", "--from", filepath.Join(o.Dir, "dump.yaml"), "--kueue-version", o.Kueue, "--feature-gates", strings.Join(gates, ","), "-o", "json")
		if code != ExitOK {
			t.Fatalf("exit %d: %s", code, errOut)
		}
		var result report.SimulationResult
		decoder := json.NewDecoder(strings.NewReader(out))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&result); err != nil {
			t.Fatal(err)
		}
		for _, text := range result.Assumptions {
			if strings.Contains(text, "no DeviceClass") {
				supposed++
			}
		}
		for _, want := range o.Workloads {
			compared++
			got := simulated(result, want)
			if got == nil {
				t.Errorf("%s: not in the simulation", want)
				continue
			}
			compareSimulated(t, want, got)
		}
	})
	if compared < 300 || supposed == 0 {
		t.Errorf("compared %d workloads, %d simulations supposed something of DeviceClasses; the corpus has more", compared, supposed)
	}
}

// simulated finds the workload by its name or, where the recording made the name, by its owner and replica.
func simulated(result report.SimulationResult, want corpus.Workload) *report.SimulatedWorkload {
	for _, is := range []func(report.SimulatedWorkload) bool{
		func(w report.SimulatedWorkload) bool { return w.Workload != nil && w.Workload.Name == want.Workload },
		func(w report.SimulatedWorkload) bool {
			return w.Owner != nil && w.Owner.Kind+"/"+w.Owner.Name == want.Owner && (want.Index == nil || w.Index == nil || *w.Index == *want.Index)
		},
	} {
		i := slices.IndexFunc(result.Workloads, func(w report.SimulatedWorkload) bool { return w.State != "None" && is(w) })
		if i >= 0 {
			return &result.Workloads[i]
		}
	}
	return nil
}

func compareSimulated(t *testing.T, want corpus.Workload, got *report.SimulatedWorkload) {
	t.Helper()
	if want.Admission == nil {
		message := ""
		if c := want.Condition("QuotaReserved"); c != nil {
			message = c.Message
		}
		said := append([]string{got.Message}, got.PossibleMessages...)
		if len(got.PodSets) > 0 || !slices.ContainsFunc(said, func(m string) bool { return withoutUIDs(m) == withoutUIDs(message) }) {
			t.Errorf("%s: %s in %v\n got %q\nwant %q", want, got.State, got.PodSets, said, message)
		}
		return
	}
	if got.ClusterQueue != want.Admission.ClusterQueue || len(got.PodSets) != len(want.Admission.PodSetAssignments) {
		t.Errorf("%s: %s in %q, Kueue admitted it to %q", want, got.State, got.ClusterQueue, want.Admission.ClusterQueue)
		return
	}
	state := "QuotaReserved"
	if want.True("Admitted") {
		state = "Admitted"
	}
	if got.State != state {
		t.Errorf("%s: state %s, Kueue: %s", want, got.State, state)
	}
	for i, ps := range want.Admission.PodSetAssignments {
		flavors, usage := map[string]string{}, map[string]string{}
		for name, f := range ps.Flavors {
			flavors[string(name)] = f
		}
		for name, q := range ps.ResourceUsage {
			usage[string(name)] = q.String()
		}
		g := got.PodSets[i]
		if g.Name != ps.Name || g.Count != int64(ps.Count) || !maps.Equal(g.Flavors, flavors) || !maps.Equal(g.Usage, usage) {
			t.Errorf("%s: pod set %s: got %+v, Kueue: %d pods in %v with %v", want, ps.Name, g, ps.Count, flavors, usage)
		}
	}
}

// uids differ from recording to recording.
var uids = regexp.MustCompile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

func withoutUIDs(message string) string { return uids.ReplaceAllString(message, "*") }
