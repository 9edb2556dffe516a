package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueueconf"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// scene is what a command works on: the input, the configuration that holds, and the charges asked for.
type scene struct {
	snap    *cluster.Snapshot
	conf    *kueueconf.Config
	charges []*charge.Charge
	// notFound names the arguments that no workload answers to.
	notFound error
}

// load runs the layers: source → cluster → kueueconf → workload → device → charge.
func load(ctx context.Context, env Env, o *options) (*scene, error) {
	b := cluster.NewBuilder(nil)
	err := read(ctx, env, o, b)
	snap := b.Build()
	if err != nil {
		return nil, err
	}
	for _, p := range snap.Problems {
		fmt.Fprintln(env.ErrOut, p)
	}
	if len(snap.Problems) > 0 && snap.Objects() == 0 {
		return nil, errUnreadable
	}
	for _, text := range snap.Coverage.Forbidden() {
		// Other reasons are problems, printed already.
		if strings.Contains(text, ": forbidden: ") {
			fmt.Fprintln(env.ErrOut, "warning: could not read "+text)
		}
	}
	conf, err := kueueconf.Resolve(snap, kueueconf.Options{ConfigFile: o.kueueConfig, Version: o.kueueVersion, FeatureGates: o.gates})
	if err != nil {
		return nil, err
	}
	s := &scene{snap: snap, conf: conf}
	found, notFound := choose(snap, workload.Find(snap, conf, workload.Options{Namespace: o.namespace}), o)
	s.notFound = notFound
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap))
	for _, w := range found {
		s.charges = append(s.charges, engine.Charge(w))
	}
	return s, ctx.Err()
}

// finish prints the result and says, as an error, what was wrong with the input.
func (s *scene) finish(env Env, o *options, doc report.Document) error {
	if s.notFound == nil || len(s.charges) > 0 {
		if err := o.printer.Print(env.Out, doc); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	}
	if s.notFound != nil {
		return s.notFound
	}
	if len(s.snap.Problems) > 0 {
		return errUnreadable
	}
	unknown := 0
	for _, c := range s.charges {
		if c.Verdict == charge.Unknown {
			unknown++
		}
	}
	if unread := len(s.snap.Coverage.Forbidden()); o.strict && unknown+unread > 0 {
		return errIncomplete{unknown, unread}
	}
	return nil
}
