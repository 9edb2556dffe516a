package remedy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
)

// opening finds the change that makes a queue active: a stop policy lifted, flavors made, a cycle of cohorts cut.
func (e *Finder) opening(o *cluster.Object) []Remedy {
	var found []Remedy
	cq := cluster.As[*kueue.ClusterQueue](o)
	lq := cluster.As[*kueue.LocalQueue](o)
	if lq != nil {
		cq = e.queue(string(lq.Spec.ClusterQueue))
	}
	switch {
	case lq != nil && ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None:
		found = e.start(cluster.LocalQueue.Kind, lq.Namespace, lq.Name)
	case cq != nil && ptr.Deref(cq.Spec.StopPolicy, kueue.None) != kueue.None:
		found = e.start(cluster.ClusterQueue.Kind, "", cq.Name)
	case cq != nil:
		found = append(e.makeFlavors(cq), e.untie(cq)...)
	}
	for _, r := range found {
		if e.opens(o, r.Changes) {
			return []Remedy{r}
		}
	}
	return nil
}

// opens tells that a queue is active after changes.
func (e *Finder) opens(o *cluster.Object, changes []cluster.Change) bool {
	snap, err := e.snap.Apply(changes...)
	if err != nil {
		return false
	}
	again := snap.Get(o.Ref.GroupKind(), o.Ref.Namespace, o.Ref.Name)
	return explain.New(snap, e.conf, nil).Activity(again).Status == metav1.ConditionTrue
}
