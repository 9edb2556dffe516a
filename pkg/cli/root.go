package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

const rootLong = `Says what Kueue charges each workload against GPU quota, by which path, and why.

Reads a live cluster (like any kubectl command), an export of one (--from), or
manifests that were never applied (-f). It never writes to a cluster. Where the
evidence for an answer is not in the input, the answer is "unknown", with what is
missing.`

const rootExample = `  # What is every workload of this namespace charged?
  kubectl gpu-quota charge

  # Why does this job wait?
  kubectl gpu-quota explain job/train -n team-a

  # The same from an export, without a cluster
  kubectl gpu-quota explain job/train --from must-gather/

  # What would this manifest be charged in the cluster?
  kubectl gpu-quota charge -f job.yaml`

// NewRoot returns the root command.
func NewRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-gpu_quota",
		Short:       "Say what Kueue charges workloads against GPU quota, and why",
		Long:        rootLong,
		Example:     rootExample,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl gpu-quota"},
		// Errors and usage are printed by Run, once.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err, cmd.CommandPath()}
	})
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.AddCommand(newCharge(env), newExplain(env), newSimulate(env), newQueues(env), newDevices(env), newAudit(env),
		newLint(env), newRules(env), newCollect(env), newVersion(env), newCompletion(env))
	root.SetUsageFunc(usage)
	return root
}

// Run executes the command line and returns the exit code.
func Run(ctx context.Context, env Env, args []string) int {
	// Libraries log what they also return, as a request that was cancelled because another one failed. It is told once,
	// below.
	klog.SetLogger(logr.Discard())
	root := NewRoot(env)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var wrong usageError
	switch {
	case err == nil || errors.Is(err, errUnreadable) || errors.Is(err, errFindings):
	case errors.As(err, &wrong):
		fmt.Fprintf(env.ErrOut, "error: %v\nSee '%s --help' for usage.\n", err, wrong.command)
	case strings.HasPrefix(err.Error(), "unknown command"):
		fmt.Fprintf(env.ErrOut, "error: %v\nSee '%s --help' for usage.\n", strings.TrimSpace(err.Error()),
			cmd.CommandPath())
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(env.ErrOut, Interrupted)
	default:
		fmt.Fprintf(env.ErrOut, "error: %v\n", err)
	}
	return exitCode(err)
}

// group names a set of flags in the help of a command.
type group struct {
	title string
	flags *pflag.FlagSet
}

// groups returns the flag groups of a command, which addGroups has put in its annotations.
func addGroups(cmd *cobra.Command, groups ...group) {
	for _, g := range groups {
		g.flags.VisitAll(func(f *pflag.Flag) {
			if f.Annotations == nil {
				f.Annotations = map[string][]string{}
			}
			f.Annotations[groupAnnotation] = []string{g.title}
		})
		cmd.Flags().AddFlagSet(g.flags)
	}
}

const groupAnnotation = "gpuquota.dev/group"

// groupTitles is the order of the groups in help.
var groupTitles = []string{inputGroup, selectionGroup, kueueGroup, devicesGroup, whatIfGroup, outputGroup,
	connectionGroup}

// usage prints the usage of a command with its flags in groups.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	if cmd.Runnable() {
		fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	} else {
		fmt.Fprintf(w, "Usage:\n  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
		fmt.Fprintf(w, "\nUse \"%s [command] --help\" for more about a command.\n", cmd.CommandPath())
	}
	sets := map[string]*pflag.FlagSet{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		title := outputGroup
		if t := f.Annotations[groupAnnotation]; len(t) == 1 {
			title = t[0]
		}
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
		}
		sets[title].AddFlag(f)
	})
	for _, title := range groupTitles {
		if set := sets[title]; set != nil && set.HasAvailableFlags() && cmd.Runnable() {
			fmt.Fprintf(w, "\n%s:\n%s", title, set.FlagUsagesWrapped(100))
		}
	}
	return nil
}
