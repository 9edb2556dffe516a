package lint

import (
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Alone is the input if it were all there is of workloads, cohorts, checks and device classes, and nobody held any quota. What
// can't be admitted then can't be admitted with more workloads either; classes that are not in the input may change a charge.
// Only what is asked about is charged: mostly few workloads are in doubt, of many.
type Alone struct {
	// Workloads of the input, as those of [Facts.Workloads].
	Workloads []*workload.Workload

	engine    *charge.Engine
	admission *admission.Engine
	charges   map[*workload.Workload]*charge.Charge
}

func newAlone(in Input) *Alone {
	snap := in.Snapshot.Supposing(cluster.Workload, cluster.Cohort, cluster.AdmissionCheck, cluster.Topology,
		cluster.LimitRange, cluster.PriorityClass, cluster.WorkloadPriorityClass, cluster.DeviceClass)
	engine := charge.NewEngine(snap, in.Config, device.NewInventory(snap, selector.Of(in.Config.Behavior)))
	return &Alone{
		Workloads: workload.Find(snap, in.Config, workload.Options{}),
		engine:    engine, admission: admission.New(engine, nil), charges: map[*workload.Workload]*charge.Charge{},
	}
}

// Charge is what one of the workloads is charged.
func (a *Alone) Charge(w *workload.Workload) *charge.Charge {
	c := a.charges[w]
	if c == nil {
		c = a.engine.Charge(w)
		a.charges[w] = c
	}
	return c
}

// Decide is what a scheduling attempt would decide about a charge of [Alone.Charge] that holds no quota.
func (a *Alone) Decide(c *charge.Charge) *admission.Decision {
	a.admission.Add(c)
	return a.admission.Decide(c)
}
