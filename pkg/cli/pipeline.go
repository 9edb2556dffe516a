package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// scene is what a command works on: the input, the configuration that holds, and the charges asked for.
type scene struct {
	snap   *cluster.Snapshot
	conf   *config.Config
	layers *pipeline.Layers
	// found is every workload read: of the whole input for commands that look everywhere, else of the namespace.
	found []*workload.Workload
	// charges are those of the workloads asked for, a part of found in its order.
	charges []*charge.Charge
	// notFound names the arguments that no workload answers to.
	notFound error
}

// decider decides about charges. What it supposes is told with the configuration.
func (s *scene) decider(charges []*charge.Charge) *admission.Engine {
	e := s.layers.DeciderOf(charges)
	s.conf.Assumptions = append(s.conf.Assumptions, e.Assumptions()...)
	return e
}

// needed tells which kinds a charge and its explanation rest on. Claims in use are many, one or more a
// pod, and tell nothing of quota.
func needed(gk schema.GroupKind) bool {
	return gk != cluster.ResourceClaim && gk != cluster.DeviceTaintRule && gk != cluster.Topology && gk != cluster.Node
}

// reads tells whether the command looks at a kind.
func (o *options) reads(gk schema.GroupKind) bool {
	if o.only != nil {
		return slices.Contains(o.only, gk)
	}
	return needed(gk) || o.nodes && gk == cluster.Node || o.claims &&
		(gk == cluster.ResourceClaim || gk == cluster.DeviceTaintRule)
}

var errNoKueue = errors.New("there is no Kueue in this cluster: it serves neither Workloads nor ClusterQueues; " +
	"to see what Kueue would make of a manifest, give it with -f")

// readSnapshot reads the input and says what of it could not be used.
func readSnapshot(ctx context.Context, env Env, o *options) (*cluster.Snapshot, error) {
	b := cluster.NewBuilder(o.reads)
	err := read(ctx, env, o, b)
	snap := b.Build()
	if err != nil {
		return nil, err
	}
	return snap, checkRead(env, snap)
}

// checkRead says what could not be read, and fails when that is everything. An input in which nothing is looked at is
// perhaps not the one that was meant.
func checkRead(env Env, snap *cluster.Snapshot) error {
	for _, p := range snap.Problems {
		fmt.Fprintln(env.ErrOut, p)
	}
	switch {
	case snap.Objects() > 0:
	case len(snap.Problems) > 0:
		return errUnreadable
	case !snap.Live:
		fmt.Fprintln(env.ErrOut, "warning: the input holds no object of a kind that is looked at")
	}
	return nil
}

// load runs the layers: source → cluster → config → workload → device → charge.
func load(ctx context.Context, env Env, o *options) (*scene, error) {
	snap, err := readSnapshot(ctx, env, o)
	if err != nil {
		return nil, err
	}
	if snap.Live && snap.Coverage.NotServed(cluster.Workload) && snap.Coverage.NotServed(cluster.ClusterQueue) {
		if len(o.filenames) == 0 {
			return nil, errNoKueue
		}
		fmt.Fprintln(env.ErrOut, "warning: there is no Kueue in this cluster: the answer is for one in which it is")
	}
	warnForbidden(env, snap, o)
	warnTwice(env, snap)
	if snap, err = o.suppose(snap); err != nil {
		return nil, err
	}
	conf, err := config.Resolve(snap,
		config.Options{ConfigFile: o.kueueConfig, Version: o.kueueVersion, FeatureGates: o.gates})
	if err != nil {
		return nil, err
	}
	s := &scene{snap: snap, conf: conf, layers: pipeline.New(snap, conf)}
	within := o.namespace
	if o.everywhere || len(o.filenames) > 0 { // the jobs of -f are looked for in all
		within = ""
	}
	s.found = workload.Find(snap, conf, workload.Options{Namespace: within})
	chosen, notFound := choose(snap, s.found, o)
	s.notFound = notFound
	if len(chosen) == 0 && snap.Live && !snap.Coverage.HasIn(cluster.Workload, o.namespace) &&
		!snap.Coverage.HasIn(cluster.Job, o.namespace) {
		return nil, errors.New("neither workloads nor jobs may be listed here; name a namespace where you may with -n")
	}
	for _, w := range chosen {
		s.charges = append(s.charges, s.layers.Charge(w))
	}
	return s, ctx.Err()
}

// allCharges are the charges of all workloads found, those asked for among them: what others hold or wait for decides
// about a workload, whichever are to be shown.
func (s *scene) allCharges() []*charge.Charge {
	out := make([]*charge.Charge, len(s.found))
	for i, w := range s.found {
		out[i] = s.layers.Charge(w)
	}
	return out
}

// warnForbidden names, once, the kinds that the user may not list. Answers that rest on them are unknown.
func warnForbidden(env Env, snap *cluster.Snapshot, o *options) {
	for _, where := range []string{"", "outside namespace " + o.namespace} {
		reason := strings.TrimSpace("forbidden " + where)
		var kinds []string
		for _, text := range snap.Coverage.Forbidden() {
			// Other reasons are problems, printed already.
			if kind, _, ok := strings.Cut(text, ": "+reason+": "); ok {
				kinds = append(kinds, kind)
			}
		}
		if len(kinds) > 0 {
			fmt.Fprintf(env.ErrOut, "warning: could not read (%s): %s\n", reason, strings.Join(kinds, ", "))
		}
	}
}

// finish prints charges, or what is told of them, and says, as an error, what was wrong with the input.
func (s *scene) finish(env Env, o *options, doc report.Document) error {
	return s.finishWith(env, o, doc, errIncomplete{unknown: s.unknownCharges()})
}

// unknownCharges counts the workloads asked for whose charge is unknown.
func (s *scene) unknownCharges() int {
	unknown := 0
	for _, c := range s.charges {
		if c.Verdict == charge.Unknown {
			unknown++
		}
	}
	return unknown
}

// finishWith is finish with what is to be lacking evidence under --strict.
func (s *scene) finishWith(env Env, o *options, doc report.Document, lacking errIncomplete) error {
	if s.notFound == nil || len(s.charges) > 0 {
		if err := o.printer.Print(env.Out, doc); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	}
	s.hintMissing(env, o)
	if s.notFound != nil {
		return s.notFound
	}
	if len(s.snap.Problems) > 0 {
		return errUnreadable
	}
	if lacking.unread = len(s.snap.Coverage.Forbidden()); o.strict && lacking.unknown+lacking.unread > 0 {
		return lacking
	}
	return nil
}
