package admission_test

import (
	"math"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// queueNodes are the queues of trees by name.
func queueNodes(t *admission.Trees) map[string]*admission.TreeNode {
	out := map[string]*admission.TreeNode{}
	var walk func([]*admission.TreeNode)
	walk = func(nodes []*admission.TreeNode) {
		for _, n := range nodes {
			if n.Queue {
				out[n.Name] = n
			}
			walk(n.Children)
		}
	}
	walk(t.Roots)
	return out
}

// TestTreesAddUpToWhatQueuesReport holds usage, numbers of workloads and shares, computed from Workloads, to what the
// recorded queues say in their status.
func TestTreesAddUpToWhatQueuesReport(t *testing.T) {
	reports, pending, shares := 0, 0, 0
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		if o.Kueue != "v0.19.2" {
			return // the dump is of this version
		}
		l := o.Load(t, o.Dump(t))
		for name, n := range queueNodes(admission.New(l.Engine, l.Charges).Trees()) {
			st := n.Object.Status
			for _, d := range n.Differences {
				t.Errorf("ClusterQueue %s: %+v", name, d)
			}
			if len(st.FlavorsReservation) > 0 {
				reports++
			}
			if n.Inactive == "" {
				pending++
				if got := n.Counts.Waiting + n.Counts.Refused; got < int(st.PendingWorkloads) {
					t.Errorf("ClusterQueue %s: %d wait or are refused, its status has %d pending", name, got, st.PendingWorkloads)
				}
			}
			if fs := st.FairSharing; fs != nil && n.Parent != nil {
				shares++
				if got := math.Ceil(n.Share.Value()); got != float64(fs.WeightedShare) && !(math.IsInf(got, 1) && fs.WeightedShare == math.MaxInt64) {
					t.Errorf("ClusterQueue %s: share %v, its status says %d", name, got, fs.WeightedShare)
				}
			}
		}
	})
	if reports < 100 || pending < 100 || shares < 3 {
		t.Errorf("compared usage of %d queues, numbers of %d and shares of %d: the corpus has more", reports, pending, shares)
	}
}
