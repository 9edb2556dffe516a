package remedy_test

import (
	"slices"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestWhatOpensAQueueOpensIt makes the changes that are offered.
func TestWhatOpensAQueueOpensIt(t *testing.T) {
	offered := 0
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" || !o.Golden {
			return
		}
		l := o.Load(t, o.Dump(t))
		engine := admission.New(l.Engine, l.Charges)
		finder, trees := remedy.New(explain.New(l.Snapshot, l.Config, engine)), engine.Trees()
		for _, object := range slices.Concat(l.Snapshot.List(cluster.ClusterQueue), l.Snapshot.List(cluster.LocalQueue)) {
			for _, r := range finder.Queue(object, trees, 1).Opening {
				offered++
				snap, err := l.Snapshot.Apply(r.Changes...)
				if err != nil {
					t.Fatal(err)
				}
				after := corpus.LayersOf(snap, l.Config)
				again := admission.New(after.Engine, after.Charges)
				q := explain.New(snap, l.Config, again).Queue(snap.Get(object.Ref.GroupKind(), object.Ref.Namespace, object.Ref.Name), again.Trees(), 1)
				if q.Verdict != explain.QueueActive {
					t.Errorf("%s after %q: %s %s", object.Ref, r.Action, q.Verdict, q.Why)
				}
			}
		}
	})
	if offered < 10 {
		t.Errorf("only %d changes were offered", offered)
	}
}
