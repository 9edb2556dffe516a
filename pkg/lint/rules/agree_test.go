package rules

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// ofActivity are the rules that tell why a queue is inactive.
var ofActivity = []*lint.Rule{flavorMissing, cohortCycle, admissionCheckMissing, queueStopped}

// TestAllAgreeOnActivity: whether a ClusterQueue takes workloads is the same in the explanation of the queue, the trees of
// the command queues, the simulation, the charges and the findings of lint. It holds for dumps of clusters as for manifests.
func TestAllAgreeOnActivity(t *testing.T) {
	active, inactive := 0, map[queuestate.CauseKind]int{}
	check := func(t *testing.T, in lint.Input) {
		result, err := lint.Run(context.Background(), in, lint.Options{Rules: ofActivity})
		if err != nil {
			t.Fatal(err)
		}
		l := corpus.LayersOf(in.Snapshot, in.Config)
		engine := admission.New(l.Engine, l.Charges)
		simulation, trees, explainer := engine.Simulate(false), engine.Trees(), explain.New(in.Snapshot, in.Config, engine)
		for o := range cluster.All[*kueue.ClusterQueue](in.Snapshot, cluster.ClusterQueue) {
			state := l.Engine.Queues().ClusterQueue(o.Ref.Name)
			for _, c := range state.Causes {
				inactive[c.Kind]++
			}
			if !state.Inactive() {
				active++
			}
			q := explainer.Queue(o, trees, 0)
			if got := q.Verdict == explain.QueueInactive; got != state.Inactive() {
				t.Errorf("%s: explain says %s (%s)", o.Ref, q.Verdict, q.Why)
			}
			if got := q.Tree != nil && q.Tree.Inactive != ""; got != state.Inactive() {
				t.Errorf("%s: queues says inactive: %v", o.Ref, got)
			}
			checkNothingGiven(t, o.Ref, state, simulation)
			checkFindings(t, o, state, result)
		}
	}
	eachInput(t, check)
	corpus.Each(t, filepath.Join("..", "..", ".."), func(t *testing.T, o corpus.Observation) {
		l := o.Load(t, o.Dump(t))
		check(t, lint.Input{Snapshot: l.Snapshot, Config: l.Config})
	})
	if active < 500 {
		t.Errorf("only %d active queues", active)
	}
	for kind := queuestate.Terminating; kind <= queuestate.Reported; kind++ {
		if inactive[kind] == 0 {
			t.Errorf("no queue is inactive for cause %d", kind)
		}
	}
}

// checkNothingGiven: an inactive queue gives no quota to those that wait.
func checkNothingGiven(t *testing.T, queue cluster.Ref, state *queuestate.State, simulation *admission.Simulation) {
	if !state.Inactive() {
		return
	}
	for _, o := range simulation.Workloads {
		if o.ClusterQueue == queue.Name && o.Cycle > 0 {
			t.Errorf("%s: the simulation gives %s quota", queue, o.Charge.Workload.Name)
		}
	}
	for _, c := range simulation.Timeline {
		for _, s := range c.Steps {
			if s.ClusterQueue == queue.Name {
				t.Errorf("%s: the simulation tries %s", queue, s.Charge.Workload.Name)
			}
		}
	}
}

// checkFindings: a cause that objects show has a finding, and without one there is none.
func checkFindings(t *testing.T, o *cluster.Object, state *queuestate.State, result *lint.Result) {
	found := func(rule *lint.Rule, ref cluster.Ref) bool {
		return slices.ContainsFunc(result.Findings, func(f lint.Finding) bool {
			at := f.At.Object
			return f.Rule == rule && at.Kind == ref.Kind && (ref.Name == "" || at.Name == ref.Name) && f.Severity != lint.Info &&
				(rule != admissionCheckMissing || f.Severity == lint.Error)
		})
	}
	wants := map[*lint.Rule]bool{}
	for _, c := range state.Causes {
		switch c.Kind {
		case queuestate.Terminating, queuestate.Stopped:
			wants[queueStopped] = true
		case queuestate.FlavorNotFound, queuestate.TopologyNotFound:
			wants[flavorMissing] = true
		case queuestate.CohortCycle:
			if !found(cohortCycle, cluster.Ref{Kind: cluster.Cohort.Kind}) {
				t.Errorf("%s: lint does not tell of the cycle of cohorts", o.Ref)
			}
		case queuestate.Reported:
		default:
			wants[admissionCheckMissing] = true
		}
	}
	for _, rule := range []*lint.Rule{queueStopped, flavorMissing, admissionCheckMissing} {
		if got := found(rule, o.Ref); got != wants[rule] {
			t.Errorf("%s: findings of %s: %v, want %v", o.Ref, rule.ID, got, wants[rule])
		}
	}
}
