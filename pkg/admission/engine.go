// The engine and the state it works on; the door for other packages.

package admission

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Engine decides about the workloads of one snapshot. It is not safe for concurrent use.
type Engine struct {
	charges []*charge.Charge
	engine  *charge.Engine
	snap    *cluster.Snapshot
	conf    *config.Config
	ranges  map[string]limitSummary

	// present is the state as it is; nil until it is asked for.
	present *scheduler
	byOf    map[*charge.Charge]*schedulerWorkload
	// decided are the decisions made about the present state, one for all workloads that are alike.
	decided map[Likeness]*Decision
	holders map[holdersKey][]Holder
}

// Blocker is what keeps the queue of a workload from taking it, as [charge.Engine.Blocker] says.
func (e *Engine) Blocker(w *workload.Workload) *charge.Problem { return e.engine.Blocker(w) }

// New prepares an engine for the charges of all workloads of the snapshot; those not given are taken for absent. The
// arguments are only read.
func New(engine *charge.Engine, charges []*charge.Charge) *Engine {
	return &Engine{
		charges: charges, engine: engine, snap: engine.Snapshot(), conf: engine.Config(),
		ranges:  summarise(engine.Snapshot()),
		decided: map[Likeness]*Decision{}, holders: map[holdersKey][]Holder{},
	}
}

// state builds a scheduler: of the present, or with nothing reserved and nothing tried yet.
func (e *Engine) state(fresh bool) (*scheduler, map[*charge.Charge]*schedulerWorkload) {
	s := &scheduler{
		conf: e.conf, behavior: e.conf.Behavior, format: charge.Formatter{Binary: e.conf.BinaryResource},
		ignoreUndeclared: e.conf.IgnoresUndeclared(), queues: map[string]*queue{},
	}
	c := e.conf.Configuration
	s.fair = c.FairSharing != nil
	s.preemption = newPreemption(s)
	s.oracle = s.preemption
	s.blockAdmission = c.WaitForPodsReady != nil && ptr.Deref(c.WaitForPodsReady.BlockAdmission, false)
	e.buildQueues(s)
	items := make(map[*charge.Charge]*schedulerWorkload, len(e.charges))
	for _, c := range e.charges {
		wl := e.newWorkload(s, c, fresh)
		items[c] = wl
		s.workloads = append(s.workloads, wl)
	}
	if !fresh {
		s.account(e.snap)
	}
	slices.SortStableFunc(s.workloads, func(a, b *schedulerWorkload) int { return a.seq - b.seq })
	return s, items
}

// Add makes a workload that holds no quota known to the engine, besides those it was made with.
func (e *Engine) Add(c *charge.Charge) {
	s := e.now()
	if e.byOf[c] != nil {
		return
	}
	wl := e.newWorkload(s, c, false)
	e.byOf[c], s.workloads, s.pendingOrders = wl, append(s.workloads, wl), nil
	e.charges = append(e.charges, c)
}

func strategiesOf(fs *configapi.FairSharing) []strategy {
	var out []strategy
	for _, name := range fs.PreemptionStrategies {
		if name == configapi.LessThanInitialShare {
			out = append(out, initialShare)
		} else {
			out = append(out, finalShare)
		}
	}
	if out == nil {
		return []strategy{finalShare, initialShare}
	}
	return out
}

// Assumptions are sentences about what the input does not say of quota, and what is taken for true instead.
func (e *Engine) Assumptions() []string {
	if e.snap.Coverage.Has(cluster.Cohort) {
		return nil
	}
	for _, q := range cluster.All[*kueue.ClusterQueue](e.snap, cluster.ClusterQueue) {
		if q.Spec.CohortName != "" {
			return []string{"the input holds no Cohort; cohorts are supposed to have no quota, limits or parents of " +
				"their own"}
		}
	}
	return nil
}

func (e *Engine) buildQueues(s *scheduler) {
	var queues []*kueue.ClusterQueue
	for o, q := range cluster.All[*kueue.ClusterQueue](e.snap, cluster.ClusterQueue) {
		queues = append(queues, q)
		s.queues[q.Name] = e.queue(o, q)
	}
	var cohorts []*kueue.Cohort
	for _, c := range cluster.All[*kueue.Cohort](e.snap, cluster.Cohort) {
		cohorts = append(cohorts, c)
	}
	s.forest = quota.Build(queues, cohorts)
	s.names = slices.Sorted(maps.Keys(s.queues))
	trees := map[*quota.Node]*tree{}
	for name, q := range s.queues {
		q.node = s.forest.Queue(name)
		root := q.node.Root()
		if trees[root] == nil {
			trees[root] = &tree{}
		}
		q.tree = trees[root]
	}
	s.forest.Hide(func(name string) bool { return s.queues[name].inactive != "" })
}

// whyInactive says why a ClusterQueue takes no workloads; empty when it does, or when the input can't say.
func (e *Engine) whyInactive(name string) string {
	if s := e.engine.Queues().ClusterQueue(name); s.Inactive() {
		return s.Cause().Text()
	}
	return ""
}

// orchestrated is the object above a queue, itself included, whose quota an orchestrator writes; empty for none.
func (e *Engine) orchestrated(o *cluster.Object, q *kueue.ClusterQueue) string {
	if o.EffectiveQuotas {
		return o.Ref.String()
	}
	seen := map[string]bool{}
	for name := string(q.Spec.CohortName); name != "" && !seen[name]; {
		seen[name] = true
		cohort, record, ok := cluster.Lookup[*kueue.Cohort](e.snap, cluster.Cohort, "", name)
		if !ok {
			return ""
		}
		if record.EffectiveQuotas {
			return record.Ref.String()
		}
		name = string(cohort.Spec.ParentName)
	}
	return ""
}

func (e *Engine) queue(o *cluster.Object, q *kueue.ClusterQueue) *queue {
	out := &queue{
		name: q.Name, object: q, record: o, strict: q.Spec.QueueingStrategy == kueue.StrictFIFO,
		inactive: e.whyInactive(q.Name), orchestrated: e.orchestrated(o, q),
		fungible: kueue.FlavorFungibility{
			WhenCanBorrow:  kueue.MayStopSearch,
			WhenCanPreempt: kueue.TryNextFlavor,
		}, pending: newPendingQueue(),
	}
	if p := q.Spec.Preemption; p != nil {
		out.preemption = *p
	}
	p := &out.preemption
	for _, policy := range []*kueue.PreemptionPolicy{&p.WithinClusterQueue, &p.ReclaimWithinCohort} {
		if *policy == "" {
			*policy = kueue.PreemptionPolicyNever
		}
	}
	if f := q.Spec.FlavorFungibility; f != nil {
		out.fungible.Preference = f.Preference
		if f.WhenCanBorrow != "" {
			out.fungible.WhenCanBorrow = f.WhenCanBorrow
		}
		if f.WhenCanPreempt != "" {
			out.fungible.WhenCanPreempt = f.WhenCanPreempt
		}
	}
	flavors, topologies := 0, 0
	for i, g := range q.Spec.ResourceGroups {
		grp := group{index: i, covered: map[corev1.ResourceName]bool{}, labels: map[string]bool{}}
		for _, name := range g.CoveredResources {
			grp.covered[name] = true
		}
		for _, fq := range g.Flavors {
			f := &flavor{
				name:   string(fq.Name),
				object: cluster.As[*kueue.ResourceFlavor](e.snap.Get(cluster.ResourceFlavor, "", string(fq.Name))),
			}
			grp.flavors = append(grp.flavors, f)
			flavors++
			if f.object != nil {
				labelKeys(f.object.Spec.NodeLabels, grp.labels)
			}
			if f.topology() {
				topologies++
			}
		}
		out.groups = append(out.groups, grp)
	}
	out.ledger = e.ledger(out)
	out.topologyOnly = flavors > 0 && flavors == topologies && e.conf.Enabled(release.TopologyAwareScheduling)
	return out
}

// stateOf is where a workload stands once its pod sets got flavors: some checks may still be outstanding.
func (q *queue) stateOf(sets []PodSet) State {
	if len(q.checksFor(sets)) > 0 {
		return QuotaReserved
	}
	return Admitted
}

// checksFor lists the admission checks that apply to the flavors assigned. A check for no flavor in particular applies
// to each, so a workload that got none has no checks.
func (q *queue) checksFor(sets []PodSet) []string {
	st := q.object.Spec.AdmissionChecksStrategy
	if st == nil {
		return nil
	}
	used := map[string]bool{}
	for _, ps := range sets {
		for _, f := range ps.Flavors {
			used[f] = true
		}
	}
	var out []string
	for _, c := range st.AdmissionChecks {
		if len(c.OnFlavors) == 0 && len(used) > 0 ||
			slices.ContainsFunc(c.OnFlavors, func(f kueue.ResourceFlavorReference) bool { return used[string(f)] }) {
			out = append(out, string(c.Name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func conditionTrue(w *kueue.Workload, name string) bool {
	return w != nil && apimeta.IsStatusConditionTrue(w.Status.Conditions, name)
}

func sortedKeys[V any](m map[corev1.ResourceName]V) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(m))
}

// Node is the place of a ClusterQueue in its tree, with what is reserved now; nil when it does not exist.
func (e *Engine) Node(queue string) *quota.Node { return e.now().forest.Queue(queue) }

// CohortNode is the same for a cohort.
func (e *Engine) CohortNode(cohort string) *quota.Node { return e.now().forest.Cohort(cohort) }

// NotReady lists the admitted workloads whose pods are not ready.
func (e *Engine) NotReady() []*charge.Charge {
	var out []*charge.Charge
	for _, wl := range e.now().workloads {
		if wl.held != nil && wl.notReady {
			out = append(out, wl.charge)
		}
	}
	return out
}

// Choices are the workload's device requests that a narrower selector would make cheaper.
func (e *Engine) Choices(c *charge.Charge) []charge.Choice { return e.engine.Choices(c) }
