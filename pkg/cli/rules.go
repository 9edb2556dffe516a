package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rulepack"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rules"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

func newRules(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List and explain the rules of lint",
		Example: "  kubectl gpu-quota rules list\n  kubectl gpu-quota rules explain GQ104\n  kubectl gpu-quota rules " +
			"test rules/",
	}
	cmd.AddCommand(newRulesList(env), newRulesExplain(env), newRulesTest(env))
	return cmd
}

func newRulesList(env Env) *cobra.Command {
	output := ""
	var packs []string
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the rules with their severities",
		Example: "  kubectl gpu-quota rules list\n  kubectl gpu-quota rules list -o json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := ruleListFormats[output]
			if !ok {
				return usageError{fmt.Errorf("unknown output format %q; use one of json, yaml, name", output),
					cmd.CommandPath()}
			}
			set, err := rulepack.Load(packs...)
			if err != nil {
				return fmt.Errorf("--rules: %w", err)
			}
			return write(env.Out, allRules(set))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json, yaml or name")
	addRulesFlag(cmd.Flags(), &packs)
	return cmd
}

// ruleInfo is one rule in machine output.
type ruleInfo struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Severity string   `json:"severity"`
	Title    string   `json:"title"`
	Since    string   `json:"since"`
	Needs    []string `json:"needs"`
}

// ruleList is the result of `rules list`.
type ruleList struct {
	report.TypeMeta
	Items []ruleInfo `json:"items"`
}

func newRuleList(all []*lint.Rule) ruleList {
	out := ruleList{TypeMeta: report.TypeMeta{APIVersion: report.APIVersion, Kind: "RuleList"}, Items: []ruleInfo{}}
	for _, r := range all {
		info := ruleInfo{ID: r.ID, Name: r.Name, Severity: string(r.Severity), Title: r.Doc.Title, Since: r.Doc.Since,
			Needs: []string{}}
		for _, gk := range r.Needs {
			info.Needs = append(info.Needs, gk.Kind)
		}
		out.Items = append(out.Items, info)
	}
	return out
}

var ruleListFormats = map[string]func(io.Writer, []*lint.Rule) error{
	"": func(w io.Writer, all []*lint.Rule) error {
		width := 0
		for _, r := range all {
			width = max(width, len(r.ID))
		}
		for _, r := range all {
			if _, err := fmt.Fprintf(w, "%-*s  %-7s  %-32s  %s\n", width, r.ID, r.Severity, r.Name,
				r.Doc.Title); err != nil {
				return err
			}
		}
		return nil
	},
	"name": func(w io.Writer, all []*lint.Rule) error {
		for _, r := range all {
			if _, err := fmt.Fprintln(w, r.ID); err != nil {
				return err
			}
		}
		return nil
	},
	"json": func(w io.Writer, all []*lint.Rule) error {
		out, err := json.MarshalIndent(newRuleList(all), "", "    ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, string(out))
		return err
	},
	"yaml": func(w io.Writer, all []*lint.Rule) error {
		out, err := yaml.Marshal(newRuleList(all))
		if err != nil {
			return err
		}
		_, err = w.Write(out)
		return err
	},
}

// allRules are the program's own rules and those of packs, by ID.
func allRules(packs *rulepack.Set) []*lint.Rule {
	all := append(rules.All(), packs.Rules()...)
	lint.SortRules(all)
	return all
}

func addRulesFlag(flags *pflag.FlagSet, packs *[]string) {
	flags.StringArrayVar(packs, "rules", nil, "file or directory with rule packs (docs/rule-packs.md) to apply as "+
		"well; repeatable")
}

func newRulesExplain(env Env) *cobra.Command {
	var packs []string
	cmd := &cobra.Command{
		Use:     "explain RULE",
		Short:   "Say what a rule looks for and why, with examples",
		Example: "  kubectl gpu-quota rules explain GQ104\n  kubectl gpu-quota rules explain unmapped-device-class",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, r := range rules.All() {
				ids = append(ids, r.ID+"\t"+r.Doc.Title)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("explain needs the ID or the name of one rule"), cmd.CommandPath()}
			}
			set, err := rulepack.Load(packs...)
			if err != nil {
				return fmt.Errorf("--rules: %w", err)
			}
			all := allRules(set)
			r := lint.Find(all, args[0])
			if r == nil {
				r = lint.Find(all, strings.ToUpper(args[0]))
			}
			if r == nil {
				return usageError{fmt.Errorf("there is no rule %q; kubectl gpu-quota rules list shows them", args[0]),
					cmd.CommandPath()}
			}
			_, err = io.WriteString(env.Out, report.RuleMarkdown(r))
			return err
		},
	}
	addRulesFlag(cmd.Flags(), &packs)
	return cmd
}
