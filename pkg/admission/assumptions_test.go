package admission_test

import (
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// Exports of queues in cohorts that hold no Cohort say nothing of the cohorts' own quota, limits and parents.
func TestWhatIsSupposedOfCohorts(t *testing.T) {
	queue := func(cohort string) string {
		return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {namespaceSelector: {}, cohortName: '" + cohort + "'}\n---\n"
	}
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"a cohort nobody tells of": {queue("research"), 1},
		"no cohort":                {queue(""), 0},
		"an empty list":            {queue("research") + "apiVersion: kueue.x-k8s.io/v1beta2\nkind: CohortList\nitems: []\n", 0},
		"a Cohort":                 {queue("research") + "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {}\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := corpus.Load("dump.yaml", []byte(c.text), config.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := admission.New(l.Engine, l.Charges).Assumptions(); len(got) != c.want {
				t.Errorf("supposed: %q, want %d sentences", got, c.want)
			}
		})
	}
}
