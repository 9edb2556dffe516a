package explain_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

var everyObject = flag.Bool("full", false, "leave out every object of every recorded cluster, instead of some of each")

// someOfEach is how many objects of a recorded cluster are left out, one at a time, unless all are.
const someOfEach = 3

// implied are kinds whose absence is taken for what it most often is: a cohort needs no object, and most namespaces have
// no LimitRange.
var implied = []string{"Cohort", "LimitRange"}

// attested are kinds of which the other objects tell that there are some: a workload has a namespace, and the queues of the
// corpus report themselves active, which they are not without their flavors. There is no cluster without them.
var attested = []string{"Namespace", "ResourceFlavor"}

// TestWithoutAnObjectNothingWrongIsClaimed leaves one object out of a recorded cluster. What is told then must be true of
// the cluster that does not have the object. Where it was the last of its kind in the input, nobody can tell whether the
// cluster has it: then what is told must be true of both, or it is Unknown and says what is missing.
func TestWithoutAnObjectNothingWrongIsClaimed(t *testing.T) {
	claims, unknown := 0, 0
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" || !o.Golden {
			return // the dump is of this version
		}
		dump := o.Dump(t)
		full := predictions(t, o, dump, false)
		for _, at := range leftOut(t, o, dump) {
			var kindGone, gone string
			left := map[string]int{}
			cut, _, err := corpus.Without(dump, func(position int, kind, namespace, name string) bool {
				if position == at {
					kindGone, gone = kind, kind+" "+namespace+"/"+name
					return true
				}
				left[kind]++
				return false
			})
			if err != nil {
				t.Fatal(err)
			}
			truth := predictions(t, o, cut, true)
			for name, claim := range predictions(t, o, cut, false) {
				if claim.State == explain.Unknown {
					unknown++
					if len(claim.Missing) == 0 && claim.Why == "" {
						t.Errorf("without %s: %s is Unknown, and nothing says why", gone, name)
					}
					continue
				}
				claims++
				last := left[kindGone] == 0
				if possible := !last || !slices.Contains(attested, kindGone); possible && !told(claim, truth[name]) {
					t.Errorf("without %s: %s is %s\nin a cluster without it: %s", gone, name, text(claim), text(truth[name]))
				}
				if before := full[name]; before != nil && last && !slices.Contains(implied, kindGone) && !told(claim, before) {
					t.Errorf("without %s, the last of its kind: %s is %s\nwith it: %s", gone, name, text(claim), text(before))
				}
			}
		}
	})
	if claims < 1000 || unknown < 100 {
		t.Errorf("only %d claims and %d unknown ones were looked at", claims, unknown)
	}
}

// leftOut are the positions of the objects that are left out.
func leftOut(t *testing.T, o corpus.Observation, dump []byte) []int {
	t.Helper()
	_, objects, err := corpus.Without(dump, func(int, string, string, string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, objects)
	for i := range all {
		all[i] = i
	}
	if *everyObject || objects <= someOfEach {
		return all
	}
	h := fnv.New64a()
	h.Write([]byte(o.Scenario))
	for i := range all { // the first few of an order that is the scenario's own
		rest := len(all) - i
		k := i + int(h.Sum64()%uint64(rest))
		all[i], all[k] = all[k], all[i]
		h.Write([]byte{byte(i)})
	}
	return all[:someOfEach]
}

// predictions are what is predicted for every workload; where supposed, in a cluster that has no more than the dump.
func predictions(t *testing.T, o corpus.Observation, dump []byte, supposed bool) map[string]*admission.Decision {
	t.Helper()
	l, err := corpus.Load(o.Scenario+".yaml", dump, config.Options{Version: o.Kueue, FeatureGates: o.FeatureGates})
	if err != nil {
		t.Fatal(err)
	}
	if supposed {
		var kinds []schema.GroupKind
		for _, k := range cluster.Kinds() {
			kinds = append(kinds, k.GroupKind)
		}
		l = corpus.LayersOf(l.Snapshot.Supposing(kinds...), l.Config)
	}
	explainer := explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges))
	out := map[string]*admission.Decision{}
	for _, c := range l.Charges {
		out[c.Workload.Namespace+"/"+c.Workload.Name] = explainer.Explain(c).Predicted
	}
	return out
}

// told tells that what is claimed is what is true, as far as it goes: of a claim without message, the state.
func told(claim, truth *admission.Decision) bool {
	if truth == nil || claim.State != truth.State {
		return false
	}
	return claim.Message == "" || claim.Message == truth.Message || slices.Contains(truth.Possible, claim.Message) || slices.Contains(claim.Possible, truth.Message)
}

func text(d *admission.Decision) string {
	if d == nil {
		return "not there"
	}
	return fmt.Sprintf("%s %q (%s)", d.State, d.Message, d.Why)
}
