package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rulepack"
)

const rulesTestLong = `Loads rule packs and tries every rule on the examples it carries: a good example must
have no finding, a bad one must have those it wants. A rule needs one of each.

PATHs are files, or directories with everything below them.

Exit codes: 0 every example passes; 1 some do not; 2 a pack can't be loaded.`

func newRulesTest(env Env) *cobra.Command {
	return &cobra.Command{
		Use:     "test PATH ...",
		Short:   "Try the rules of packs on their own examples",
		Long:    rulesTestLong,
		Example: "  kubectl gpu-quota rules test rules/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("test needs a file or a directory with rule packs"), cmd.CommandPath()}
			}
			set, err := rulepack.Load(args...)
			if err != nil {
				return err
			}
			outcomes, err := set.Test(cmd.Context())
			if err != nil {
				return err
			}
			return printOutcomes(env, outcomes)
		},
	}
}

// printOutcomes prints what each example gave. The error says that some are wrong.
func printOutcomes(env Env, outcomes []rulepack.Outcome) error {
	rules, failed := map[string]bool{}, 0
	for _, o := range outcomes {
		rules[o.Rule.ID] = true
		line := fmt.Sprintf("ok    %s  %s", o.Rule.ID, o.Example)
		if o.Wrong != "" {
			failed++
			line = fmt.Sprintf("FAIL  %s  %s\n      %s:%d: %s", o.Rule.ID, o.Example, o.File, o.Line, o.Wrong)
		}
		if _, err := fmt.Fprintln(env.Out, line); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	}
	verdict := "all pass"
	if failed > 0 {
		verdict = fmt.Sprintf("%d failed", failed)
	}
	if _, err := fmt.Fprintf(env.Out, "\n%s, %s: %s\n", counted(len(rules), "rule"), counted(len(outcomes), "example"),
		verdict); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	if failed > 0 {
		return errFindings
	}
	return nil
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
