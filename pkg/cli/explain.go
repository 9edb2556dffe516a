package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/fit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

const explainLong = `Says where a workload stands and why: what the next scheduling attempt would decide, its
charge with the way to every number, the quota that is too small, the flavors tried, who
holds what is missing, its place in the queue, what would admit it, and what Kueue
reported, in Kueue's words and in plain ones.

Of a queue (clusterqueue/NAME, localqueue/NAME) it says whether it takes workloads and if not
why, what it uses of its quota, who waits in which order and what would be decided about
each, and what the first waits for. For the workloads of a queue one by one: --queue NAME.

Every answer is worked out from the objects by the rules of the Kueue version found or
given; where the input can't tell, it says so and names what is missing.

With --fit it also asks the scheduler's own allocator whether the pods can get their devices
now, with what claims hold taken out: quota may say yes where devices say no.

Where -f holds jobs, the answer is about these, unless others are asked for (-A: all). Else,
without a live cluster, the workloads of all namespaces are taken, unless -n is given.

Exit codes: 0 done; 2 a usage error, or a part of the input that could not be read
(the rest is still used); 3 an unknown charge under --strict.`

const explainExample = `  # Why does this job wait?
  kubectl gpu-quota explain job/train -n team-a

  # Wait until it is admitted, and say each time what has changed
  kubectl gpu-quota explain job/train -n team-a --watch

  # From an export, with every step and the fields it rests on
  kubectl gpu-quota explain workload/job-train-5f3c2 --from export.yaml -o wide

  # Would this manifest be admitted now?
  kubectl gpu-quota explain -f job.yaml

  # Are there devices for it, too?
  kubectl gpu-quota explain job/train -n team-a --fit

  # Does this queue take workloads, and what does its first one wait for?
  kubectl gpu-quota explain clusterqueue/research

  # Every workload that waits or runs in a queue
  kubectl gpu-quota explain -A --queue clusterqueue/research

  # The state Kueue reports, for a program
  kubectl gpu-quota explain job/train -o jsonpath='{.items[0].reported.state}'`

func newExplain(env Env) *cobra.Command {
	f := &flags{}
	watch, most := false, defaultPending
	fits, limit := false, fit.DefaultLimit
	var ofQueues []string
	cmd := &cobra.Command{
		Use:               "explain [TYPE/NAME ... | TYPE [NAME ...]] [flags]",
		Short:             "Say where a workload or a queue stands and why",
		Long:              explainLong,
		Example:           explainExample,
		ValidArgsFunction: f.completeTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, args)
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			if limit <= 0 {
				return usageError{errors.New("--fit-timeout must be more than 0"), cmd.CommandPath()}
			}
			o.fit, o.nodes, o.claims, o.fitLimit = fits, fits, fits, limit
			queues, workloads := splitQueues(o.targets)
			if len(queues) > 0 {
				if fits {
					return usageError{errors.New("--fit is about workloads; name those of a queue with --queue"),
						cmd.CommandPath()}
				}
				if err := checkQueues(o, queues, workloads, watch); err != nil {
					return usageError{err, cmd.CommandPath()}
				}
				o.targets = nil
				return runExplainQueues(cmd.Context(), env, o, queues, most)
			}
			if err := o.selectQueues(ofQueues); err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			if !watch {
				return runExplain(cmd.Context(), env, o)
			}
			if !o.live || len(o.filenames) > 0 {
				return usageError{errors.New("--watch follows a live cluster; it does not go with --from or -f"),
					cmd.CommandPath()}
			}
			return watchExplain(cmd.Context(), env, o)
		},
	}
	f.register(cmd)
	selection := pflag.NewFlagSet(selectionGroup, pflag.ContinueOnError)
	selection.BoolVarP(&watch, "watch", "w", false, "explain again whenever Kueue has changed a workload, until all "+
		"are admitted")
	selection.StringArrayVar(&ofQueues, "queue", nil, queueFlagUsage)
	selection.IntVar(&most, "max-pending", defaultPending, "of a queue, list this many of the workloads that wait; 0 "+
		"lists all")
	addGroups(cmd, group{selectionGroup, selection})
	devices := pflag.NewFlagSet(devicesGroup, pflag.ContinueOnError)
	devices.BoolVar(&fits, "fit", false, "say, too, whether the pods can get their devices now, node by node; reads "+
		"nodes, pods and claims")
	devices.DurationVar(&limit, "fit-timeout", limit, "how long --fit may take for a workload; after it, the answer "+
		"is unknown")
	addGroups(cmd, group{devicesGroup, devices})
	return cmd
}

func runExplain(ctx context.Context, env Env, o *options) error {
	s, items, err := explainAll(ctx, env, o)
	if err != nil {
		return err
	}
	lacking := errIncomplete{unknown: s.unknownCharges()}
	var missing []string
	for _, x := range items {
		if x.Fit != nil && x.Fit.Verdict == fit.Unknown {
			lacking.unknown, lacking.what = lacking.unknown+1, "unknown charges and answers about devices"
			missing = append(missing, x.Fit.Missing...)
		}
	}
	err = s.finishWith(env, o, s.document(items), lacking)
	hintKinds(env, o, s.snap, missing)
	return err
}

// explainAll reads the input and explains the workloads asked for.
func explainAll(ctx context.Context, env Env, o *options) (*scene, []*explain.Explanation, error) {
	o.everywhere, o.aboutFiles = true, true
	s, err := load(ctx, env, o)
	if err != nil {
		return nil, nil, err
	}
	explainer := remedy.New(explain.New(s.snap, s.conf, s.decider(s.allCharges())))
	items := make([]*explain.Explanation, len(s.charges))
	for _, i := range byQueue(s.charges) {
		items[i] = explainer.Explain(s.charges[i])
	}
	if o.fit {
		addFit(ctx, s, items, o.fitLimit)
	}
	return s, items, ctx.Err()
}

// addFit asks for every workload whether its pods can get their devices.
func addFit(ctx context.Context, s *scene, items []*explain.Explanation, limit time.Duration) {
	checker := fit.New(s.snap, device.NewInventory(s.snap, selector.Newest), fit.Options{Limit: limit})
	for _, x := range items {
		if w := x.Charge.Workload; w != nil && (w.State == workload.Managed || w.State == workload.Unmanaged) {
			x.Fit = checker.Check(ctx, w, x.Assigned())
		}
	}
}

// byQueue orders charges by their queues: what is tried for the first of a queue serves the next.
func byQueue(charges []*charge.Charge) []int {
	order := make([]int, len(charges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(charges[a].ClusterQueue, charges[b].ClusterQueue) })
	return order
}

func (s *scene) document(items []*explain.Explanation) report.Document {
	return report.NewExplanations(s.conf, items)
}
