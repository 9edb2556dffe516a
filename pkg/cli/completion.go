package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const completionLong = `Prints a script that completes this program's commands, flags and types.

kubectl completes a plugin through a program named kubectl_complete-NAME in the PATH;
"completion kubectl" prints that program.`

const completionExample = `  # For kubectl gpu-quota, in any shell that completes kubectl
  kubectl gpu-quota completion kubectl > ~/.local/bin/kubectl_complete-gpu_quota
  chmod +x ~/.local/bin/kubectl_complete-gpu_quota

  # For the program called by its own name
  source <(kubectl-gpu_quota completion bash)`

// kubectlShim is the program kubectl asks for completions of the plugin.
const kubectlShim = "#!/usr/bin/env sh\n# Completes kubectl gpu-quota.\nexec kubectl-gpu_quota __complete \"$@\"\n"

var completionScripts = map[string]func(*cobra.Command, io.Writer) error{
	"bash":       func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) },
	"zsh":        func(c *cobra.Command, w io.Writer) error { return c.GenZshCompletion(w) },
	"fish":       func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) },
	"powershell": func(c *cobra.Command, w io.Writer) error { return c.GenPowerShellCompletionWithDesc(w) },
	"kubectl":    func(_ *cobra.Command, w io.Writer) error { _, err := io.WriteString(w, kubectlShim); return err },
}

func newCompletion(env Env) *cobra.Command {
	shells := slices.Sorted(maps.Keys(completionScripts))
	return &cobra.Command{
		Use:       "completion " + strings.Join(shells, "|"),
		Short:     "Print a shell completion script",
		Long:      completionLong,
		Example:   completionExample,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && completionScripts[args[0]] != nil {
				return completionScripts[args[0]](cmd.Root(), env.Out)
			}
			return usageError{fmt.Errorf("completion needs one of %s", strings.Join(shells, ", ")), cmd.CommandPath()}
		},
	}
}

// completeTypes completes the TYPE/ of an argument.
func completeTypes(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(typed, "/") || len(args) > 0 && !strings.Contains(args[0], "/") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, t := range typeList() {
		if strings.HasPrefix(t, typed) {
			out = append(out, t+"/")
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// registerCompletions completes the flags that take one of a few words.
func registerCompletions(cmd *cobra.Command) {
	words := map[string][]string{
		"color": colorModes, "kueue-version": release.All(),
		"output": slices.DeleteFunc(slices.Clone(report.Formats),
			func(f string) bool { return strings.Contains(f, "=") }),
	}
	for flag, values := range words {
		// The only error is a flag that does not exist, which a test would show.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}
