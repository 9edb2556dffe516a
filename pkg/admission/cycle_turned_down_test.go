package admission_test

import (
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestWhatIsTurnedDownBeforeFlavorsAreLookedAt has no assignment; every release says why, whatever reasons its gates let it
// write and however its queue waits.
func TestWhatIsTurnedDownBeforeFlavorsAreLookedAt(t *testing.T) {
	const (
		noRange = "{apiVersion: v1, kind: LimitRangeList, items: []}"
		rangeOf = "{apiVersion: v1, kind: LimitRange, metadata: {name: lr, namespace: lab}, spec: {limits: [{type: Container, "
	)
	for name, tc := range map[string]struct{ old, new, want string }{
		"above limits":          {noRange, rangeOf + "default: {cpu: 1}}]}}", "must not exceed its limits"},
		"below a LimitRange":    {noRange, rangeOf + "min: {cpu: 4}}]}}", "must not be below the limitRange min"},
		"namespace not matched": {"namespaceSelector: {}", "namespaceSelector: {matchLabels: {a: b}}", "match ClusterQueue selector"},
	} {
		for _, strategy := range []string{"StrictFIFO", "BestEffortFIFO"} {
			for _, version := range release.All() {
				for _, gates := range []map[string]bool{nil, {release.UnadmittedWorkloadsObservability: true}} {
					text := strings.Replace(strings.Replace(behindAHead, tc.old, tc.new, 1), "StrictFIFO", strategy, 1)
					l, err := corpus.Load("objects.yaml", []byte(text), config.Options{Version: version, FeatureGates: gates})
					if err != nil {
						t.Fatal(err)
					}
					if gates != nil && !l.Config.Enabled(release.UnadmittedWorkloadsObservability) {
						continue // the release does not know the gate
					}
					e := admission.New(l.Engine, l.Charges)
					for _, replay := range []bool{false, true} {
						for _, o := range e.Simulate(replay).Workloads {
							wide := o.Charge.Workload.Owner.Ref.Name == "wide"
							if wide && !strings.Contains(strings.ToLower(o.Message), strings.ToLower(tc.want)) {
								t.Errorf("%s, %s, %s, gates %v, replay %t: %s, message %q, want %q",
									name, strategy, version, gates, replay, o.State, o.Message, tc.want)
							}
						}
					}
				}
			}
		}
	}
}
