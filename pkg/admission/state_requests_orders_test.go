package admission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestNamesInAViolationStandInEveryOrder that a release leaves to the order of a map, wherever it lists resources: above a
// container's limits, above the largest and below the smallest that a LimitRange allows, in the decision and in a run.
func TestNamesInAViolationStandInEveryOrder(t *testing.T) {
	const (
		failed    = "resources validation failed: "
		outside   = "resources didn't satisfy LimitRange constraints: "
		container = "spec.podSets[0].template.spec.containers[0]: Invalid value: "
		pod       = "spec.podSets[0].template.spec: Invalid value: "
		above     = ": requests must not exceed its limits"
		most      = ": requests must not be above the limitRange max"
		least     = ": requests must not be below the limitRange min"
	)
	for name, tc := range map[string]struct {
		version, limits, requests string
		gates                     map[string]bool
		want                      []string
	}{
		"above limits, sorted": {
			"v0.19.2", "{type: Container, default: {cpu: 1, memory: 1Gi}}", "{cpu: 2, memory: 2Gi}", nil,
			[]string{failed + container + `["cpu","memory"]` + above},
		},
		"above limits, in map order": {
			"v0.19.0", "{type: Container, default: {cpu: 1, memory: 1Gi}}", "{cpu: 2, memory: 2Gi}", nil,
			[]string{failed + container + `["cpu","memory"]` + above, failed + container + `["memory","cpu"]` + above},
		},
		"with fine reasons": {
			"v0.19.0", "{type: Container, default: {cpu: 1, memory: 1Gi}}", "{cpu: 2, memory: 2Gi}",
			map[string]bool{"UnadmittedWorkloadsObservability": true},
			[]string{failed + container + `["cpu","memory"]` + above, failed + container + `["memory","cpu"]` + above},
		},
		"one name has one order": {
			"v0.19.0", "{type: Container, default: {cpu: 1}}", "{cpu: 2, memory: 2Gi}", nil,
			[]string{failed + container + `["cpu"]` + above},
		},
		"below the least": {
			"v0.18.4", "{type: Container, min: {cpu: 3, memory: 3Gi}}", "{cpu: 2, memory: 2Gi}", nil,
			[]string{outside + container + `["cpu","memory"]` + least, outside + container + `["memory","cpu"]` + least},
		},
		"above the most, at two places": {
			"v0.19.0", "{type: Container, max: {cpu: 1, memory: 1Gi}, default: {cpu: 9, memory: 9Gi}}, {type: Pod, max: {cpu: 1, memory: 1Gi}}",
			"{cpu: 2, memory: 2Gi}", nil,
			[]string{
				outside + "[" + container + `["cpu","memory"]` + most + ", " + pod + `["cpu","memory"]` + most + "]",
				outside + "[" + container + `["cpu","memory"]` + most + ", " + pod + `["memory","cpu"]` + most + "]",
				outside + "[" + container + `["memory","cpu"]` + most + ", " + pod + `["cpu","memory"]` + most + "]",
				outside + "[" + container + `["memory","cpu"]` + most + ", " + pod + `["memory","cpu"]` + most + "]",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(behindAHead, "{apiVersion: v1, kind: LimitRangeList, items: []}",
				"{apiVersion: v1, kind: LimitRange, metadata: {name: lr, namespace: lab}, spec: {limits: ["+tc.limits+"]}}", 1)
			text = strings.Replace(text, "{cpu: 3}", tc.requests, 1)
			l, err := corpus.Load("objects.yaml", []byte(text), config.Options{Version: tc.version, FeatureGates: tc.gates})
			if err != nil {
				t.Fatal(err)
			}
			e := admission.New(l.Engine, l.Charges)
			check := func(where string, message string, possible []string) {
				t.Helper()
				if len(possible) == 0 {
					possible = []string{message}
				}
				if diff := cmp.Diff(tc.want, slices.Sorted(slices.Values(possible))); diff != "" || message != tc.want[0] {
					t.Errorf("%s: message %q, possible (-want +got):\n%s", where, message, diff)
				}
			}
			for _, replay := range []bool{false, true} {
				for _, o := range e.Simulate(replay).Workloads {
					if o.Charge.Workload.Owner.Ref.Name == "wide" {
						check("simulate", o.Message, o.Possible)
						d := e.Decide(o.Charge)
						check("decide", d.Message, d.Possible)
					}
				}
			}
		})
	}
}
