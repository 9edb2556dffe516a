package explain

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// Preemption is one time the workload had to give way.
type Preemption struct {
	// Reason of the Preempted condition, such as InClusterQueue.
	Reason string
	// By is the workload that took its place; zero when it is not in the input, and then UID and Note tell what is
	// known.
	By   cluster.Ref
	UID  string
	Note string
	charge.Evidence
}

// preemptedBy reads who preempted the workload last.
func (e *Explainer) preemptedBy(c *charge.Charge) []Preemption {
	w := c.Workload
	if w == nil || w.Object == nil {
		return nil
	}
	cond := apimeta.FindStatusCondition(w.Object.Status.Conditions, kueue.WorkloadPreempted)
	if cond == nil || cond.Status != metav1.ConditionTrue {
		return nil
	}
	p := Preemption{Reason: cond.Reason}
	p.Evidence = charge.Evidence{Object: w.Record, Path: "status.conditions", Value: "Preempted=True"}
	if m := message.Parse(cond.Message); m.Is(message.Preempted) {
		p.UID = m.Field("uid")
		for _, id := range []string{p.UID, m.Field("job")} {
			if o := e.snap.ByUID(types.UID(id)); o != nil {
				p.By = o.Ref
				break
			}
		}
		if p.By.IsZero() {
			p.Note = "the workload that took its place is not in the input: it is gone, or in a namespace that could " +
				"not be read"
		}
	}
	return []Preemption{p}
}
