package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestWithoutAKindNothingElseIsClaimed leaves all objects of a kind out of every recorded cluster: what is decided then
// is Unknown, or what was decided before.
func TestWithoutAKindNothingElseIsClaimed(t *testing.T) {
	kinds := []string{
		"LocalQueue", "ClusterQueue", "ResourceFlavor", "Namespace", "ConfigMap", "DeviceClass", "ResourceSlice",
		"ResourceClaimTemplate", "AdmissionCheck", "WorkloadPriorityClass", "PriorityClass", "RuntimeClass", "Workload",
	}
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" || !o.Golden {
			return
		}
		dump := o.Dump(t)
		before := decisions(t, o, dump)
		for _, kind := range kinds {
			n := 0
			cut, _, err := corpus.Without(dump, func(_ int, k, _, _ string) bool {
				if k == kind {
					n++
				}
				return k == kind
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				continue
			}
			for name, now := range decisions(t, o, cut) {
				// A refusal may be certain, and its words not.
				wordless := false
				for _, state := range []admission.State{admission.Inadmissible, admission.Pending} {
					wordless = wordless || strings.HasPrefix(now, string(state)+` ""`) && strings.HasPrefix(before[name], string(state))
				}
				// Of a job that has ended there would be no Workload, or is one that has ended.
				ended := now == string(admission.None)+` "" []` && strings.HasPrefix(before[name], string(admission.Finished))
				if ended {
					continue
				}
				if now != before[name] && now != string(admission.Unknown) && !wordless {
					t.Errorf("without %s: %s is %s, before %s", kind, name, now, before[name])
				}
			}
		}
	})
}

// decisions says, for every workload, what would be decided.
func decisions(t *testing.T, o corpus.Observation, dump []byte) map[string]string {
	t.Helper()
	l, err := corpus.Load(o.Scenario+".yaml", dump, config.Options{Version: o.Kueue, FeatureGates: o.FeatureGates})
	if err != nil {
		t.Fatal(err)
	}
	e := admission.New(l.Engine, l.Charges)
	out := map[string]string{}
	for _, c := range l.Charges {
		d := e.Decide(c)
		text := string(d.State)
		if d.State != admission.Unknown {
			text = fmt.Sprintf("%s %q %v", d.State, d.Message, d.PodSets)
		}
		out[c.Workload.Namespace+"/"+c.Workload.Name] = text
	}
	return out
}
