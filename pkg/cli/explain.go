package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const explainLong = `Says where a workload stands and why: its charge with the way to every number, what
Kueue reported, in Kueue's words and in plain ones, and how the request compares with
the queue's own nominal quota and what is used of it.

What the next scheduling attempt would decide is not predicted: borrowing from a
cohort, preemption and the order of the queue are not evaluated.

Without a live cluster the workloads of all namespaces are taken, unless -n is given.

Exit codes: 0 done; 2 a usage error, or a part of the input that could not be read
(the rest is still used); 3 an unknown charge under --strict.`

const explainExample = `  # Why does this job wait?
  kubectl gpu-quota explain job/train -n team-a

  # From an export, with every step and the fields it rests on
  kubectl gpu-quota explain workload/job-train-5f3c2 --from export.yaml -o wide

  # Would this manifest be refused?
  kubectl gpu-quota explain -f job.yaml

  # The state Kueue reports, for a program
  kubectl gpu-quota explain job/train -o jsonpath='{.items[0].reported.state}'`

func newExplain(env Env) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:               "explain [TYPE/NAME ... | TYPE [NAME ...]] [flags]",
		Short:             "Say where a workload stands and why",
		Long:              explainLong,
		Example:           explainExample,
		ValidArgsFunction: completeTypes,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, args)
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return runExplain(cmd.Context(), env, o)
		},
	}
	f.register(cmd)
	return cmd
}

func runExplain(ctx context.Context, env Env, o *options) error {
	s, err := load(ctx, env, o)
	if err != nil {
		return err
	}
	explainer := explain.New(s.snap, s.conf)
	items := make([]*explain.Explanation, 0, len(s.charges))
	for _, c := range s.charges {
		items = append(items, explainer.Explain(c))
	}
	return s.finish(env, o, report.NewExplanations(s.conf, items))
}
