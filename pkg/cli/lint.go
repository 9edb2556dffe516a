package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/lintconfig"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rulepack"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

const lintLong = `Looks for what Kueue and the API server will refuse, and for what costs other quota than
it reads: in manifests, in an export, or in the live cluster.

PATHs are files, directories (with everything below them), globs or - (standard
input), and are taken for all there is. Without a PATH and without --from the live
cluster is read; with -f files are laid over it, and only findings that concern them
are shown.

A rule that has something to check, but not the objects to check it against, is
reported as not evaluated: it neither passes nor fails.

Exit codes: 0 no findings at or above --fail-on; 1 there are some; 2 a usage error, or
input that could not be read at all.`

const lintExample = `  # The manifests of a repository
  kubectl gpu-quota lint deploy/

  # Against the queues and devices of an export
  kubectl gpu-quota lint -f job.yaml --from export.yaml

  # The live cluster
  kubectl gpu-quota lint

  # In CI: for people on the terminal, for the code scanning in a file
  kubectl gpu-quota lint deploy/ --report sarif=lint.sarif

  # With rules of your own
  kubectl gpu-quota lint deploy/ --rules rules/

  # What does this rule mean?
  kubectl gpu-quota rules explain GQ104`

// lintFlags are the flags of lint, as given.
type lintFlags struct {
	filenames, from, reports, packs                      []string
	kueueVersion, kueueConfig, kubernetesVersion, failOn string
	featureGates                                         []string
	output, color                                        string
	lintConfig, baseline                                 string
	writeBaseline, fix, diff                             bool
	config                                               *genericclioptions.ConfigFlags
}

// lintOptions are validated flags and arguments.
type lintOptions struct {
	*options
	paths      []string
	kubernetes lint.KubernetesVersion
	failOn     string
	reports    []findingReport
	rules      []*lint.Rule
	// project is what .gpu-quota.yaml says; empty without one.
	project    *lintconfig.Config
	severities map[string]lint.Severity
	// baseline is a file; empty when none is used.
	baseline string
	// supposed is the version of Kueue where the input tells none.
	supposed      config.Supposed
	writeBaseline bool
	fix           fixMode
	// packs are the rules of --rules.
	packs *rulepack.Set
}

// findingReport is one --report.
type findingReport struct {
	file    string
	printer report.Printer
}

// failModes are the values of --fail-on.
var failModes = []string{string(lint.Error), string(lint.Warning), string(lint.Info), failNever}

// failNever is the value of --fail-on for which nothing found leads to exit code 1.
const failNever = "none"

func newLint(env Env) *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use:     "lint [PATH ...] [flags]",
		Short:   "Find misconfiguration before the cluster does",
		Long:    lintLong,
		Example: lintExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, args)
			if err == nil {
				err = f.configure(cmd, o)
			}
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return runLint(cmd.Context(), env, o)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *lintFlags) register(cmd *cobra.Command) {
	f.config = genericclioptions.NewConfigFlags(true)
	f.config.CacheDir, f.config.DisableCompression = nil, nil
	connection := pflag.NewFlagSet(connectionGroup, pflag.ContinueOnError)
	f.config.AddFlags(connection)

	input := pflag.NewFlagSet(inputGroup, pflag.ContinueOnError)
	input.StringArrayVarP(&f.filenames, "filename", "f", nil, "file, directory, glob or - with objects to check as "+
		"if applied to the cluster or the export; repeatable")
	input.StringArrayVar(&f.from, "from", nil, "file, directory, glob or - with an export of the whole cluster, read "+
		"instead of a live one; repeatable")
	input.StringVar(&f.failOn, "fail-on", string(lint.Error), "exit with code 1 when there is a finding of this "+
		"severity or above: "+strings.Join(failModes, ", "))

	f.registerKept(input)
	fixes := f.fixFlags()
	addRulesFlag(input, &f.packs)

	kueue := pflag.NewFlagSet(kueueGroup, pflag.ContinueOnError)
	f.registerKueue(kueue)

	output := pflag.NewFlagSet(outputGroup, pflag.ContinueOnError)
	output.StringVarP(&f.output, "output", "o", "text", "output format: "+strings.Join(report.FindingFormats, ", "))
	output.StringArrayVar(&f.reports, "report", nil, "write the findings to a file as well, as FORMAT=FILE; repeatable")
	output.StringVar(&f.color, "color", "auto", "colour: auto (on a terminal, unless NO_COLOR is set), always or never")

	addGroups(cmd, group{inputGroup, input}, group{fixGroup, fixes}, group{kueueGroup, kueue},
		group{outputGroup, output}, group{connectionGroup, connection})
	registerCompletions(cmd)
}

// registerKueue adds the flags about versions and the configuration of Kueue.
func (f *lintFlags) registerKueue(kueue *pflag.FlagSet) {
	kueue.StringVar(&f.kueueVersion, "kueue-version", "", "version of Kueue to follow, for example v0.20.0 or main; "+
		"the default is that of the manager's image")
	kueue.StringVar(&f.kubernetesVersion, "kubernetes-version", "", "version of Kubernetes the manifests are for, "+
		"for example 1.36")
	kueue.StringSliceVar(&f.featureGates, "feature-gates", nil, "feature gates of Kueue, as NAME=true,NAME=false; "+
		"they win over the configuration")
	kueue.StringVar(&f.kueueConfig, "kueue-config", "", "file with Kueue's Configuration or the ConfigMap that holds "+
		"it, in place of the one in the input")
}

func (f *lintFlags) toOptions(env Env, args []string) (*lintOptions, error) {
	shared := flags{filenames: f.filenames, from: f.from, recursive: true, kueueVersion: f.kueueVersion,
		kueueConfig:  f.kueueConfig,
		featureGates: f.featureGates, color: f.color, config: f.config}
	if len(args) > 0 && len(f.from)+len(f.filenames) > 0 {
		return nil, errors.New("PATHs are all there is: to check files against an export or a cluster, name them " +
			"with -f")
	}
	shared.filenames = slices.Concat(args, f.filenames)
	packs, err := rulepack.Load(f.packs...)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	o := &lintOptions{options: &options{flags: shared}, paths: args, failOn: f.failOn, packs: packs,
		rules: allRules(packs)}
	if !slices.Contains(failModes, f.failOn) {
		return nil, fmt.Errorf("--fail-on must be one of %s, not %q", strings.Join(failModes, ", "), f.failOn)
	}
	if !slices.Contains(colorModes, f.color) {
		return nil, fmt.Errorf("--color must be one of %s, not %q", strings.Join(colorModes, ", "), f.color)
	}
	if err := shared.checkInputs(); err != nil {
		return nil, err
	}
	if f.kubernetesVersion != "" {
		if o.kubernetes, err = lint.ParseKubernetes(f.kubernetesVersion); err != nil {
			return nil, fmt.Errorf("--kubernetes-version: %w", err)
		}
	}
	if o.gates, err = release.ParseFeatureGates(strings.Join(f.featureGates, ",")); err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	if o.printer, err = report.NewFindingPrinter(report.Options{Format: f.output,
		Terminal: env.terminal(f.color)}); err != nil {
		return nil, err
	}
	o.nodes = true
	o.live, o.everywhere = len(f.from) == 0 && len(args) == 0, true
	return o, o.addReports(f.reports)
}

func (o *lintOptions) addReports(reports []string) error {
	for _, r := range reports {
		format, file, ok := strings.Cut(r, "=")
		if !ok || file == "" {
			return fmt.Errorf("--report needs FORMAT=FILE, not %q", r)
		}
		printer, err := report.NewFindingPrinter(report.Options{Format: format})
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		o.reports = append(o.reports, findingReport{file, printer})
	}
	return nil
}

func runLint(ctx context.Context, env Env, o *lintOptions) error {
	if o.fix != noFix {
		if err := runFix(ctx, env, o); err != nil || o.fix == showFix {
			return err
		}
	}
	in, result, err := lintOnce(ctx, env, o)
	if err != nil {
		return err
	}
	if o.writeBaseline {
		return writeBaseline(env, o, result)
	}
	if err := o.suppressKnown(result); err != nil {
		return err
	}
	doc := report.NewFindings(in.Config, result, o.rules, version)
	if err := o.printer.Print(o.resultTo(env), doc); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	for _, r := range o.reports {
		if err := writeReport(r, doc); err != nil {
			return err
		}
	}
	return o.verdict(result)
}

// lintOnce reads the input and applies the rules. What the project excludes is suppressed.
func lintOnce(ctx context.Context, env Env, o *lintOptions) (*lintInput, *lint.Result, error) {
	in, err := readLint(ctx, env, o)
	if err != nil {
		return nil, nil, err
	}
	result, err := lint.Run(ctx, in.Input, o.ruleOptions())
	if err != nil {
		return nil, nil, err
	}
	o.choose(in, result)
	return in, result, nil
}

func (o *lintOptions) ruleOptions() lint.Options {
	return lint.Options{Rules: o.rules, Severities: o.severities}
}

// choose drops the findings that are not asked for, and suppresses what the project excludes.
func (o *lintOptions) choose(in *lintInput, result *lint.Result) {
	if len(o.filenames) > 0 && len(o.paths) == 0 && !o.filesAlone {
		result.Keep(func(f lint.Finding) bool { return concernsLaid(in.Snapshot, f) })
	}
	result.Suppress(o.project.Excluded)
}

// concernsLaid tells that a finding has to do with an object of -f.
func concernsLaid(snap *cluster.Snapshot, f lint.Finding) bool {
	for _, l := range append([]lint.Location{f.At, f.Cause}, f.Related...) {
		o := snap.Get(l.Object.GroupKind(), l.Object.Namespace, l.Object.Name)
		if o != nil && o.Laid || l.Object.IsZero() {
			return true
		}
	}
	return false
}

// verdict is the error that leads to exit code 1 or 2.
func (o *lintOptions) verdict(result *lint.Result) error {
	if slices.ContainsFunc(result.Findings,
		func(f lint.Finding) bool { return f.Rule.ID == unreadable && f.At.Line == 0 }) {
		return errUnreadable
	}
	if o.failOn == failNever {
		return nil
	}
	if slices.ContainsFunc(result.Findings,
		func(f lint.Finding) bool { return f.Severity.AtLeast(lint.Severity(o.failOn)) }) {
		return errFindings
	}
	return nil
}

// unreadable is the rule that tells of input that can't be read: a whole file where it names no line.
const unreadable = "GQ001"

func writeReport(r findingReport, doc *report.Findings) error {
	f, err := os.Create(r.file)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	err = r.printer.Print(f, doc)
	return errors.Join(err, f.Close())
}

// readLint reads the input: PATHs alone, or what the shared flags say.
func readLint(ctx context.Context, env Env, o *lintOptions) (*lintInput, error) {
	var wants func(schema.GroupKind) bool // every readable kind
	if o.live {
		wants = o.reads
	}
	if err := o.holdStdin(env); err != nil {
		return nil, err
	}
	b := &collector{Builder: cluster.NewBuilder(wants), keep: o.packs.Wants}
	err := readPaths(ctx, env, o, b)
	snap := b.Build()
	if err != nil {
		return nil, err
	}
	warnForbidden(env, snap, o.options)
	conf, err := config.Resolve(snap,
		config.Options{ConfigFile: o.kueueConfig, Version: o.kueueVersion, FeatureGates: o.gates, Supposed: o.supposed})
	if err != nil {
		return nil, err
	}
	in := &lintInput{Input: lint.Input{Snapshot: snap, Config: conf, Kubernetes: o.kubernetes}, collector: b}
	for _, c := range b.sinks {
		in.Documents = append(in.Documents, c.Documents...)
		in.Kept = append(in.Kept, c.Kept...)
		in.Files += c.Files()
		in.Suppressions = append(in.Suppressions, c.Suppressions...)
	}
	return in, ctx.Err()
}

// readPaths reads PATHs as all there is, or what the shared flags say.
func readPaths(ctx context.Context, env Env, o *lintOptions, b inlet) error {
	if len(o.paths) == 0 {
		return read(ctx, env, o.options, b)
	}
	o.filesAlone = true
	sink := b.Sink(cluster.InputOptions{Laid: true, Whole: true, Namespace: *o.config.Namespace})
	return source.Read(ctx,
		source.Options{Filenames: o.paths, Recursive: true, Stdin: env.In, Texts: o.texts, Skip: o.skips}, sink)
}

// lintInput is what is linted, with the collector that read it.
type lintInput struct {
	lint.Input
	*collector
}

// collector is a Builder that keeps the documents, too.
type collector struct {
	*cluster.Builder
	sinks []*lint.Collector
	// laid are those of sinks that read PATHs or the files of -f.
	laid []*lint.Collector
	keep func(apiVersion, kind string) bool
}

// Sink implements inlet.
func (c *collector) Sink(opts cluster.InputOptions) source.Sink {
	s := lint.NewCollector(c.Builder.Sink(opts))
	s.Keep = c.keep
	c.sinks = append(c.sinks, s)
	if opts.Laid {
		c.laid = append(c.laid, s)
	}
	return s
}

// given tells that a file is one that may be changed: it was named by a PATH or by -f.
func (c *collector) given(file string) bool {
	return slices.ContainsFunc(c.laid, func(s *lint.Collector) bool { return s.Has(file) })
}
