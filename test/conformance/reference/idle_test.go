package reference

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// TestChanceEndsARepetition lets the run go on with cycles that repeat themselves, until (in v0.19.0) chance takes the only head
// out of its queue: without a head, Kueue's scheduler would wait for ever.
func TestChanceEndsARepetition(t *testing.T) {
	cases, err := outcome.ReadCases("../../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Name != "scan-ends-when-chance-names-the-same" {
			continue
		}
		cluster, err := objects.Decode(c.Dump)
		if err != nil {
			t.Fatal(err)
		}
		for idle := range uint64(800) {
			result, err := Run(cluster, Options{Replay: true, Idle: idle, Patience: 1 + int(idle%3)})
			if err != nil {
				t.Fatal(err)
			}
			if result.Unsettled {
				t.Errorf("idle %d: no end was found", idle)
			}
		}
		return
	}
	t.Fatal("the case is gone")
}
