package remedy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
)

// opening finds the change that makes a queue active: a stop policy lifted, flavors made, a cycle of cohorts cut.
func (f *Finder) opening(o *cluster.Object) []Remedy {
	var found []Remedy
	state, name := f.queues.ClusterQueue(o.Ref.Name), o.Ref.Name
	if lq := cluster.As[*kueue.LocalQueue](o); lq != nil {
		name = string(lq.Spec.ClusterQueue)
		if state = f.queues.LocalQueue(lq.Namespace, lq.Name); state.Has(queuestate.Stopped) {
			found = f.start(cluster.LocalQueue.Kind, lq.Namespace, lq.Name)
		}
		state = state.Of
	}
	if found == nil && state != nil {
		found = f.openClusterQueue(name, state)
	}
	for _, r := range found {
		if f.opens(o, r.Changes) {
			return []Remedy{r}
		}
	}
	return nil
}

// opens tells that a queue is active after changes.
func (f *Finder) opens(o *cluster.Object, changes []cluster.Change) bool {
	snap, err := f.snap.Apply(changes...)
	if err != nil {
		return false
	}
	after := queuestate.New(snap, f.conf)
	state := after.ClusterQueue(o.Ref.Name)
	if o.Ref.GroupKind() == cluster.LocalQueue {
		state = after.LocalQueue(o.Ref.Namespace, o.Ref.Name)
	}
	return state != nil && state.Predicted.Status == metav1.ConditionTrue
}
