package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/lintconfig"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rulepack"
)

// registerKept adds the flags that say what is kept in files about linting.
func (f *lintFlags) registerKept(input *pflag.FlagSet) {
	f.registerConfig(input, "the configuration of lint")
	input.BoolVar(&f.writeBaseline, "write-baseline", false, "write all findings to the file of --baseline")
}

// registerConfig adds the flags about findings that are not told.
func (f *lintFlags) registerConfig(input *pflag.FlagSet, what string) {
	input.StringVar(&f.lintConfig, "config", "", "file with "+what+"; the default is "+lintconfig.FileName+
		" in the directory of the files, or one above it")
	input.StringVar(&f.baseline, "baseline", "", "file with findings that were there before and are not reported")
}

// configure reads the project's configuration. Flags that are given win over it.
func (f *lintFlags) configure(cmd *cobra.Command, o *lintOptions) error {
	given := cmd.Flags().Changed
	if err := f.configureRules(given, o); err != nil {
		return err
	}
	p := o.project
	if p.FailOn != "" && !given("fail-on") {
		o.failOn = p.FailOn
	}
	if p.KueueVersion != "" && !given("kueue-version") {
		o.kueueVersion = p.KueueVersion
	}
	o.writeBaseline = f.writeBaseline
	if o.writeBaseline && o.baseline == "" {
		return fmt.Errorf("--write-baseline needs --baseline FILE to write to")
	}
	return f.setFix(o)
}

// configureRules finds the project's configuration, and takes from it which rules are applied, and what of their
// findings is told.
func (f *lintFlags) configureRules(given func(flag string) bool, o *lintOptions) error {
	name := f.lintConfig
	if name == "" {
		name = lintconfig.Find(o.filenames)
	}
	o.project = &lintconfig.Config{}
	var err error
	if name != "" {
		if o.project, err = lintconfig.Load(name); err != nil {
			return err
		}
	}
	p := o.project
	if p.KubernetesVersion != "" && !given("kubernetes-version") {
		if o.kubernetes, err = lint.ParseKubernetes(p.KubernetesVersion); err != nil {
			return err
		}
	}
	if dirs := p.RulePackDirectories(); len(dirs) > 0 {
		if o.packs, err = rulepack.Load(slices.Concat(dirs, f.packs)...); err != nil {
			return fmt.Errorf("rulePacks of %s: %w", name, err)
		}
		o.rules = allRules(o.packs)
	}
	o.skips = p.Skips
	if o.baseline = f.baseline; !given("baseline") {
		o.baseline = p.BaselineFile()
	}
	o.severities, err = p.RuleSeverities(o.rules)
	return err
}

// holdStdin reads standard input once, since fixes need it again.
func (o *lintOptions) holdStdin(env Env) error {
	if o.fix == noFix || o.texts["-"] != nil || !slices.Contains(o.filenames, "-") {
		return nil
	}
	text, err := io.ReadAll(env.In)
	if err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	o.texts["-"] = text
	return nil
}

// writeBaseline writes the findings as the baseline.
func writeBaseline(env Env, o *lintOptions, result *lint.Result) error {
	if err := lintconfig.WriteBaseline(o.baseline, result.Findings); err != nil {
		return fmt.Errorf("--write-baseline: %w", err)
	}
	_, err := fmt.Fprintf(env.ErrOut, "wrote %d findings to %s\n", len(result.Findings), o.baseline)
	return err
}

// suppressKnown takes out the findings of the baseline.
func (o *lintOptions) suppressKnown(result *lint.Result) error {
	if o.baseline == "" {
		return nil
	}
	b, err := lintconfig.LoadBaseline(o.baseline)
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	result.Suppress(func(f lint.Finding) (string, bool) { return "in the baseline " + o.baseline, b.Covers(f) })
	return nil
}
