package lint

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// IfComplete is the input if it were all there is of workloads, cohorts, checks and device classes, and nobody held any
// quota. What can't be admitted then can't be admitted with more workloads either; classes that are not in the input
// may change a charge. Only what is asked about is charged: mostly few workloads are in doubt, of many.
type IfComplete struct {
	// Workloads of the input, as those of [Facts.Workloads].
	Workloads []*workload.Workload

	layers  *pipeline.Layers
	decider *admission.Engine
}

func newIfComplete(given *pipeline.Layers) *IfComplete {
	snap := given.Snapshot.Supposing(cluster.Workload, cluster.Cohort, cluster.AdmissionCheck, cluster.Topology,
		cluster.LimitRange, cluster.PriorityClass, cluster.WorkloadPriorityClass, cluster.DeviceClass)
	layers := pipeline.New(snap, given.Config)
	return &IfComplete{Workloads: layers.Workloads(), layers: layers, decider: layers.DeciderOf(nil)}
}

// Charge is what one of the workloads is charged.
func (a *IfComplete) Charge(w *workload.Workload) *charge.Charge { return a.layers.Charge(w) }

// Decide is what a scheduling attempt would decide about a charge of [IfComplete.Charge] that holds no quota.
func (a *IfComplete) Decide(c *charge.Charge) *admission.Decision {
	a.decider.Add(c)
	return a.decider.Decide(c)
}
