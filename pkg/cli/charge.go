package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const chargeLong = `Says what Kueue charges each workload against quota: one number per resource, from
the spec of the workload as it is now, whatever its status says.

A verdict is one of
  Charged       the numbers are what Kueue charges
  Inadmissible  Kueue refuses the workload, with the reason and Kueue's own words
  Unmanaged     Kueue does not charge the job
  Unknown       the evidence is not in the input, with what is missing

Where -f holds jobs, the answer is about these, unless others are asked for (-A: all). Else,
without a live cluster, the workloads of all namespaces are taken, unless -n is given.

Exit codes: 0 done; 2 a usage error, or a part of the input that could not be read
(the rest is still used); 3 an unknown charge under --strict.`

const chargeExample = `  # Every workload of the namespace
  kubectl gpu-quota charge

  # One job, with the way to every number
  kubectl gpu-quota charge job/train -n team-a -o wide

  # Everything in an export
  kubectl gpu-quota charge --from must-gather/

  # A manifest that was not applied yet, in the cluster as it is
  kubectl gpu-quota charge -f job.yaml

  # The same under another release of Kueue
  kubectl gpu-quota charge -f job.yaml --kueue-version v0.18.6

  # For a program
  kubectl gpu-quota charge -A -o json`

func newCharge(env Env) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:               "charge [TYPE/NAME ... | TYPE [NAME ...]] [flags]",
		Short:             "Say what workloads are charged against quota",
		Long:              chargeLong,
		Example:           chargeExample,
		ValidArgsFunction: f.completeTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, args)
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return runCharge(cmd.Context(), env, o)
		},
	}
	f.register(cmd)
	return cmd
}

func runCharge(ctx context.Context, env Env, o *options) error {
	o.aboutFiles = true
	s, err := load(ctx, env, o)
	if err != nil {
		return err
	}
	doc := report.NewCharges(s.conf, s.charges)
	doc.ShowNamespaces(o.namespace == "")
	doc.HideServices(len(o.targets) == 0)
	return s.finish(env, o, doc)
}
