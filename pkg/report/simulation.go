package report

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// SimulationResult is the result of `simulate`: what scheduling comes to when nothing changes from outside.
type SimulationResult struct {
	SimulationHead
	// Workloads are sorted as in a [ChargeList].
	Workloads []SimulatedWorkload `json:"workloads"`
}

// SimulationHead is a SimulationResult before its workloads.
type SimulationHead struct {
	TypeMeta
	Kueue Kueue `json:"kueue"`
	// Mode is pending when it began with the present state, replay when with nothing.
	Mode     string           `json:"mode" jsonschema:"enum=pending,enum=replay"`
	Timeline []SimulatedCycle `json:"timeline"`
	// ClusterQueues are sorted by name.
	ClusterQueues []SimulatedQueue `json:"clusterQueues"`
	// Assumptions are sentences about what was supposed where the input does not tell.
	Assumptions []string `json:"assumptions,omitempty"`
	// Unknown names workloads whose decision can't be told, with the reason. Others of their cohort may come out
	// differently.
	Unknown []string `json:"unknown,omitempty"`
}

// SimulatedWorkload is where one workload ends.
type SimulatedWorkload struct {
	// Workload is the Workload object; null when the input holds none.
	Workload *cluster.Ref `json:"workload" jsonschema:"nullable"`
	// Owner is the job; null for a Workload without owner.
	Owner *cluster.Ref `json:"owner" jsonschema:"nullable"`
	// Index is the replica the workload stands for, where a job has one workload per replica.
	Index        *int   `json:"index,omitempty"`
	LocalQueue   string `json:"localQueue"`
	ClusterQueue string `json:"clusterQueue"`
	// State is None for a job that no Workload exists, or would exist, for, and Unknown when the decision can't be
	// told.
	State string `json:"state" jsonschema:"enum=Admitted,enum=QuotaReserved,enum=Pending,enum=Inadmissible,enum=Evicted,enum=Deactivated,enum=Finished,enum=None,enum=Unknown"`
	// Reason and Message are those of the Workload's QuotaReserved condition, in Kueue's words.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// PossibleMessages lists every text the version may write where it leaves the choice to chance.
	PossibleMessages []string `json:"possibleMessages"`
	// PodSets are those of a workload that has quota reserved.
	PodSets []PodSetFlavors `json:"podSets"`
	// AdmittedInCycle is the cycle of the timeline in which it got its quota; missing when it had it before, or does
	// not have it.
	AdmittedInCycle int `json:"admittedInCycle,omitempty"`
	// Position among those that wait in the ClusterQueue, from 1.
	Position int `json:"position,omitempty"`
	// Why says what keeps it out of the queue, or why the decision is unknown.
	Why string `json:"why,omitempty"`
}

// SimulatedCycle is one scheduling cycle. Every ClusterQueue takes part with one workload at most.
type SimulatedCycle struct {
	Cycle int `json:"cycle"`
	// Time is that of the arrival that started it in a replay, in RFC 3339; empty otherwise.
	Time      string              `json:"time"`
	Decisions []SimulatedDecision `json:"decisions"`
}

// SimulatedDecision is what a cycle decided about one workload. Decisions are in the order in which they are made.
type SimulatedDecision struct {
	// Workload is the Workload object or, where there is none yet, the job.
	Workload     cluster.Ref `json:"workload"`
	ClusterQueue string      `json:"clusterQueue"`
	Decision     string      `json:"decision" jsonschema:"enum=Admit,enum=Preempt,enum=NoFit,enum=Skip"`
	// Detail is the flavors assigned, who is preempted and why, or Kueue's message.
	Detail string `json:"detail"`
	// Preempts are the workloads that are evicted for it.
	Preempts []Preemption `json:"preempts,omitempty"`
}

// SimulatedQueue is what a ClusterQueue holds in the end.
type SimulatedQueue struct {
	Name string `json:"name"`
	// Usage by flavor and resource, Borrowed what of it exceeds the queue's nominal quota.
	Usage    map[string]map[string]string `json:"usage"`
	Borrowed map[string]map[string]string `json:"borrowed"`
	Pending  int                          `json:"pending"`
	// Admitted counts the workloads with quota reserved.
	Admitted int `json:"admitted"`
}

// Simulation is the document of `simulate`.
type Simulation struct {
	conf  *config.Config
	sim   *admission.Simulation
	units Units
	shows func(*charge.Charge) bool
}

// NewSimulation returns the document of a simulation. Workloads and decisions are left out that shows says no to; nil
// shows all.
func NewSimulation(conf *config.Config, sim *admission.Simulation, shows func(*charge.Charge) bool) *Simulation {
	if shows == nil {
		shows = func(*charge.Charge) bool { return true }
	}
	return &Simulation{conf: conf, sim: sim, units: Units{charge.Formatter{Binary: conf.BinaryResource}}, shows: shows}
}

func (d *Simulation) listName() string { return "workloads" }

// Head implements [Document].
func (d *Simulation) Head() any {
	head := SimulationHead{
		TypeMeta: TypeMeta{APIVersion, "SimulationResult"}, Kueue: kueueOf(d.conf), Mode: d.mode(),
		Timeline: []SimulatedCycle{}, ClusterQueues: []SimulatedQueue{}, Assumptions: d.sim.Assumptions,
		Unknown: d.sim.Unknown,
	}
	for _, c := range d.sim.Timeline {
		cycle := SimulatedCycle{Cycle: c.Number, Time: timeText(c.Time)}
		for _, s := range c.Steps {
			if d.shows(s.Charge) {
				cycle.Decisions = append(cycle.Decisions, newDecision(s))
			}
		}
		if len(cycle.Decisions) > 0 {
			head.Timeline = append(head.Timeline, cycle)
		}
	}
	for _, q := range d.sim.Queues {
		head.ClusterQueues = append(head.ClusterQueues, SimulatedQueue{
			Name: q.Name, Usage: d.units.usage(q.Usage), Borrowed: d.units.usage(q.Borrowed), Pending: q.Pending,
			Admitted: q.Admitted,
		})
	}
	return head
}

func newDecision(s admission.Step) SimulatedDecision {
	out := SimulatedDecision{Workload: objectOf(s.Charge), ClusterQueue: s.ClusterQueue, Decision: string(s.Decision),
		Detail: s.Detail}
	for _, t := range s.Targets {
		out.Preempts = append(out.Preempts, Preemption{objectOf(t.Charge), t.Reason})
	}
	return out
}

func (d *Simulation) mode() string {
	if d.sim.Replay {
		return "replay"
	}
	return "pending"
}

// shown yields the outcomes that are asked for.
func (d *Simulation) shown() iter.Seq[*admission.Outcome] {
	return func(yield func(*admission.Outcome) bool) {
		for i := range d.sim.Workloads {
			if o := &d.sim.Workloads[i]; d.shows(o.Charge) && !yield(o) {
				return
			}
		}
	}
}

// Items implements [Document].
func (d *Simulation) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		for o := range d.shown() {
			if !yield(newSimulatedWorkload(o, d.units)) {
				return
			}
		}
	}
}

// Names implements [Document].
func (d *Simulation) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for o := range d.shown() {
			if !yield(subject(o.Charge)) {
				return
			}
		}
	}
}

func newSimulatedWorkload(o *admission.Outcome, units Units) SimulatedWorkload {
	w := o.Charge.Workload
	out := SimulatedWorkload{
		LocalQueue: w.Queue, ClusterQueue: o.ClusterQueue, State: string(o.State), Reason: o.Reason, Message: o.Message,
		PossibleMessages: list(o.Possible), PodSets: newFlavors(o.PodSets,
			units), AdmittedInCycle: o.Cycle, Position: o.Position, Why: o.Why,
	}
	out.Workload, out.Owner = refs(w)
	if w.Index >= 0 {
		index := w.Index
		out.Index = &index
	}
	return out
}

func newFlavors(sets []admission.PodSet, units Units) []PodSetFlavors {
	out := make([]PodSetFlavors, 0, len(sets))
	for _, ps := range sets {
		one := PodSetFlavors{Name: ps.Name, Count: int64(ps.Count), Flavors: map[string]string{},
			Usage: map[string]string{}}
		for name, f := range ps.Flavors {
			one.Flavors[string(name)] = f
		}
		for name, v := range ps.Usage {
			one.Usage[string(name)] = units.Format(name, v)
		}
		out = append(out, one)
	}
	return out
}

// objectOf is the Workload object or, where there is none, the job.
func objectOf(c *charge.Charge) cluster.Ref {
	if object, owner := refs(c.Workload); object != nil {
		return *object
	} else if owner != nil {
		return *owner
	}
	return c.Workload.Ref()
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// usage prints amounts by flavor and resource.
func (u Units) usage(in quota.Usage) map[string]map[string]string {
	out := map[string]map[string]string{}
	for fr, v := range in {
		if out[fr.Flavor] == nil {
			out[fr.Flavor] = map[string]string{}
		}
		out[fr.Flavor][string(fr.Resource)] = u.Format(fr.Resource, int64(v))
	}
	return out
}

// flavorsOf joins what pod sets got: `gpu.memory 40320Mi, cpu 4 in gpu-nodes`.
func (u Units) flavorsOf(sets []admission.PodSet) []string {
	sums := map[string]charge.Amounts{}
	for _, ps := range sets {
		for name, f := range ps.Flavors {
			if sums[f] == nil {
				sums[f] = charge.Amounts{}
			}
			sums[f][name] = charge.Add(sums[f][name], ps.Usage[name])
		}
	}
	var out []string
	for _, f := range slices.Sorted(maps.Keys(sums)) {
		amounts := u.amounts(sums[f])
		amounts[len(amounts)-1] += " in " + clean(f)
		out = append(out, amounts...)
	}
	return out
}
