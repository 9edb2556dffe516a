package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const simulateLong = `Runs Kueue's scheduling cycles until nothing changes: what is admitted next, in which
order, who is preempted for it, and who still waits then, and why.

It begins with the present state: what is reserved stays, and what waits is tried.
Objects of -f are laid over it first, so it answers what would happen were they
applied. With --replay every status of the workloads is ignored: they arrive one at a
time, by creation, and the scheduler comes to rest before the next.

Nothing changes from outside: no workload ends, none is added, and admission checks
stay as they are. A job whose quota is preempted stops at once and queues again.
Whatever is shown, all workloads of the input take part.

Exit codes: 0 done; 2 a usage error, or a part of the input that could not be read
(the rest is still used); 3 an unknown decision under --strict.`

const simulateExample = `  # What will be admitted next?
  kubectl gpu-quota simulate

  # What happens if I submit this?
  kubectl gpu-quota simulate -f job.yaml

  # Only what concerns one job
  kubectl gpu-quota simulate job/train -n team-a

  # How did it come to this? From an export, without a cluster
  kubectl gpu-quota simulate --replay --from export.yaml

  # For a program: the state each workload ends in
  kubectl gpu-quota simulate -o jsonpath='{range .workloads[*]}{.owner.name} {.state}{"\n"}{end}'`

func newSimulate(env Env) *cobra.Command {
	f := &flags{}
	replay := false
	cmd := &cobra.Command{
		Use:               "simulate [TYPE/NAME ... | TYPE [NAME ...]] [flags]",
		Short:             "Say what will be admitted next, and in which order",
		Long:              simulateLong,
		Example:           simulateExample,
		ValidArgsFunction: f.completeTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, args)
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			o.everywhere, o.showsAll = true, *f.config.Namespace == "" && len(o.targets) == 0
			return runSimulate(cmd.Context(), env, o, replay)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&replay, "replay", false, "begin with nothing, and let the workloads arrive by creation; the "+
		"default begins with the present state")
	inGroup(cmd, "replay", inputGroup)
	setUsage(cmd, "namespace", "show the workloads of this namespace only; the default is all")
	setUsage(cmd, "all-namespaces", "show the workloads of all namespaces, which is the default")
	setUsage(cmd, "selector", "show workloads with these labels only, on the Workload or on its job")
	setUsage(cmd, "strict", "exit with code 3 when a decision is unknown for lack of evidence")
	return cmd
}

func runSimulate(ctx context.Context, env Env, o *options, replay bool) error {
	s, err := load(ctx, env, o)
	if err != nil {
		return err
	}
	all := s.allCharges()
	sim := s.decider(all).Simulate(replay)
	var shows func(*charge.Charge) bool
	if o.selects() {
		chosen := make(map[*charge.Charge]bool, len(s.charges))
		for _, c := range s.charges {
			chosen[c] = true
		}
		shows = func(c *charge.Charge) bool { return chosen[c] }
	}
	unknown := 0
	for i := range sim.Workloads {
		if w := &sim.Workloads[i]; w.State == admission.Unknown && (shows == nil || shows(w.Charge)) {
			unknown++
		}
	}
	return s.finishWith(env, o, report.NewSimulation(s.conf, sim, shows),
		errIncomplete{unknown: unknown, what: "workloads with an unknown decision"})
}
