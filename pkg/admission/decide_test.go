package admission_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// stale are workloads whose last message is about a state that has passed; a decision made now says something else.
var stale = map[string]string{
	"fair-equal-weights/Job/a7":                       "a victim parked before it was tried again",
	"fair-equal-weights/Job/a8":                       "a victim parked before it was tried again",
	"fair-weights/Job/a7":                             "a victim parked before it was tried again",
	"fair-weights/Job/a8":                             "a victim parked before it was tried again",
	"kind-mpijob-launcher-gpu/MPIJob/more":            "the rest of the quota was taken afterwards",
	"kind-pytorchjob-gpus/PyTorchJob/two":             "the rest of the quota was taken afterwards",
	"kind-raycluster-gpus/RayCluster/two":             "the rest of the quota was taken afterwards",
	"podsets-each-own-flavor/":                        "the rest of the quota was taken afterwards",
	"podsets-previously-considered/":                  "the rest of the quota was taken afterwards",
	"kind-raycluster-elastic-scaled/RayCluster/grows": "replaces a slice of an elastic job: unknown",
	"kind-transform/Pod/pod":                          "no DeviceClass in the dump: unknown",
	"multi-queue-order-by-priority/Job/c-low-second":  "parked while the queue was held",
	"reasons-explicit/Job/m-claims-over":              "parked without being tried",
	"reasons-explicit/Job/n-waits-equal":              "parked without being tried",
	"stop-clusterqueue-hold/Job/b-big":                "the queue was held afterwards",
}

// TestDecisionsAgreeWithWhatKueueWrote asks, for every workload of the recorded clusters, what the next attempt would
// decide, and compares it with the message of the last one.
func TestDecisionsAgreeWithWhatKueueWrote(t *testing.T) {
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" {
			return // the dump is of this version
		}
		l := o.Load(t, o.Dump(t))
		e := admission.New(l.Engine, l.Charges)
		for _, want := range o.Workloads {
			i := slices.IndexFunc(l.Charges, func(c *charge.Charge) bool { return c.Workload.Name == want.Workload && c.Workload.Object != nil })
			if i < 0 {
				t.Errorf("%s: not in the dump", want)
				continue
			}
			d := e.Decide(l.Charges[i])
			condition := want.Condition("QuotaReserved")
			if condition == nil || !want.Active {
				continue
			}
			message := withoutAmounts(condition.Message)
			said := slices.ContainsFunc(append([]string{d.Message}, d.Possible...), func(m string) bool { return withoutAmounts(m) == message })
			if !said && stale[o.Scenario+"/"+want.Owner] == "" {
				t.Errorf("%s: %s %v %s\n got %q\nwant %q", want, d.State, d.Missing, d.Why, strings.Join(append([]string{d.Message}, d.Possible...), "\n"), message)
			}
		}
	})
}

var moreNeeded = regexp.MustCompile(`, [^ ,]+ more needed`)

// withoutAmounts leaves out what changes when others are admitted after the attempt that left the message.
func withoutAmounts(message string) string {
	return moreNeeded.ReplaceAllString(masked(message), ", some more needed")
}
