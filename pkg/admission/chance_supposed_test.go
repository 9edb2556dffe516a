package admission_test

import (
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// Where Kueue itself does not do the same each time, a simulation says which way it goes on; elsewhere it supposes
// nothing.
func TestWhatASimulationSupposes(t *testing.T) {
	cases, err := outcome.ReadCases("../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	dumps := map[string][]byte{}
	for _, c := range cases {
		dumps[c.Name] = c.Dump
	}
	for name, c := range map[string]struct {
		dump, version string
		replay        bool
		want          string // part of the one sentence; empty for none
	}{
		"an arbitrary order ends a scan some time":   {"scan-ends-when-chance-names-the-same", "v0.19.0", true, "team-b/w00 again and again until, by chance"},
		"resources come in order":                    {"scan-ends-when-chance-names-the-same", "v0.19.2", true, ""},
		"cohorts with the same share":                {"fair-sharing-finds-cohorts-alike", "v0.19.2", false, "cohorts east and west have the same share"},
		"an arrival meets a workload at some flavor": {"flavors-of-a-resumed-scan", "v0.19.2", true, "team-b/w09 was tried again and again by turns"},
		"a scan that goes on once":                   {"second-pod-set-after-a-retry", "v0.19.2", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := corpus.Load("dump.yaml", dumps[c.dump], config.Options{Version: c.version})
			if err != nil {
				t.Fatal(err)
			}
			got := admission.New(l.Engine, l.Charges).Simulate(c.replay).Assumptions
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("supposed: %q", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("want one sentence with %q: %q", c.want, got)
			}
		})
	}
}
