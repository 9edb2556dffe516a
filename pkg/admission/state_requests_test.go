package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

func TestTextsOfViolations(t *testing.T) {
	path := field.NewPath("spec")
	both := violation{path, []string{"cpu", "memory"}, aboveLimit}
	one := violation{path.Child("resources"), []string{"pods"}, belowRangeMin}
	const (
		cpuFirst    = `spec: Invalid value: ["cpu","memory"]: requests must not exceed its limits`
		memoryFirst = `spec: Invalid value: ["memory","cpu"]: requests must not exceed its limits`
		pods        = `spec.resources: Invalid value: ["pods"]: requests must not be below the limitRange min`
	)
	for name, tc := range map[string]struct {
		sorted bool
		found  []violation
		want   []string
	}{
		"sorted":                       {true, []violation{both}, []string{cpuFirst}},
		"in the order of a map":        {false, []violation{both}, []string{cpuFirst, memoryFirst}},
		"one name has one order":       {false, []violation{one}, []string{pods}},
		"each violation has its order": {false, []violation{one, both}, []string{"[" + pods + ", " + cpuFirst + "]", "[" + pods + ", " + memoryFirst + "]"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Engine{conf: &config.Config{Behavior: release.Behavior{SortedGreaterKeys: tc.sorted}}}
			if diff := cmp.Diff(prefixed(tc.want), e.texts(message.RequestsAboveLimits, tc.found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	many := violation{path, []string{"a", "b", "c", "d", "e", "f", "g"}, aboveLimit}
	if got := (&Engine{conf: &config.Config{}}).texts(message.RequestsAboveLimits, []violation{many, many}); len(got) != MostPossible {
		t.Errorf("%d texts, want no more than %d", len(got), MostPossible)
	}
}

// prefixed are the messages with what Kueue writes before the violations.
func prefixed(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, message.Of(message.RequestsAboveLimits, text).Text())
	}
	return out
}
