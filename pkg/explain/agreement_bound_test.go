package explain

import (
	"fmt"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
)

// TestAnIncompleteListDisagreesWithNothing: with as many possible messages as are listed, another may be possible, too.
func TestAnIncompleteListDisagreesWithNothing(t *testing.T) {
	possible := make([]string, admission.MostPossible)
	for i := range possible {
		possible[i] = fmt.Sprintf("%d more needed", i+1)
	}
	for name, c := range map[string]struct {
		possible []string
		message  string
		want     string
	}{
		"one of them":           {possible, "7 more needed", "true"},
		"not among all of them": {possible, "-1 more needed", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			x := &Explanation{
				Reported:  Reported{State: Pending, Condition: kueue.WorkloadQuotaReserved, Message: c.message},
				Predicted: &admission.Decision{State: Pending, Message: c.possible[0], Possible: c.possible},
			}
			new(Explainer).agreement(x)
			got := "unknown"
			if x.Agrees != nil {
				got = fmt.Sprint(*x.Agrees)
			}
			if got != c.want {
				t.Errorf("agrees: %s, want %s", got, c.want)
			}
		})
	}
}
