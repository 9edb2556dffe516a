package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/lintconfig"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const auditLong = `Sets against each other, for every cohort, queue, flavor and resource of devices: what
there is, what the quotas say, what workloads have reserved, what they would be charged
now, and what claims hold. The rows add up; where two columns differ, the workloads that
make the difference are named, with the reason.

It also names devices in use that no quota counts, quota above the hardware, partitions
that can't be given out any more, queues that idle while others wait, who has the most,
who waits longest and why, and everything lint finds, as a .gpu-quota.yaml sets it.

What the input does not tell is shown as ?, never as 0, with what would tell it.

Exit codes: 0 done; 1 with --fail-on, something at or above that severity; 2 a usage
error, or a part of the input that could not be read (the rest is still used); 3 something
not known under --strict.`

const auditExample = `  # The whole cluster
  kubectl gpu-quota audit

  # From a dump
  kubectl gpu-quota audit --from dump.tar.gz

  # What has changed since last week?
  kubectl gpu-quota audit --compare last-week.tar.gz

  # A page for people without kubectl
  kubectl gpu-quota audit -o html > audit.html

  # In CI: a charge that differs, or devices that no quota counts, fail the job
  kubectl gpu-quota audit --from dump.tar.gz --fail-on warning`

// auditFlags are the flags of audit, as given. Its input is that of lint.
type auditFlags struct {
	lintFlags
	compare              []string
	strict, allResources bool
}

// auditOptions are validated flags.
type auditOptions struct {
	*lintOptions
	// compare is an older export; empty when there is none to compare with.
	compare              []string
	strict, allResources bool
}

func newAudit(env Env) *cobra.Command {
	f := &auditFlags{}
	cmd := &cobra.Command{
		Use:     "audit [flags]",
		Short:   "Report whether devices, quotas, charges and allocations add up",
		Long:    auditLong,
		Example: auditExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.toOptions(env)
			if err == nil {
				err = f.configure(cmd, o)
			}
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return runAudit(cmd.Context(), env, o)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *auditFlags) register(cmd *cobra.Command) {
	f.config = genericclioptions.NewConfigFlags(true)
	f.config.CacheDir, f.config.DisableCompression = nil, nil
	connection := pflag.NewFlagSet(connectionGroup, pflag.ContinueOnError)
	f.config.AddFlags(connection)

	input := pflag.NewFlagSet(inputGroup, pflag.ContinueOnError)
	input.StringArrayVarP(&f.filenames, "filename", "f", nil, "file, directory, glob or - with objects to lay over "+
		"the cluster or the export; repeatable")
	input.StringArrayVar(&f.from, "from", nil,
		"file, directory, glob or - with an export of the whole cluster, read instead of a live one; demo takes a "+
			"small cluster that is built in; repeatable")
	input.StringArrayVar(&f.compare, "compare", nil, "file, directory, glob or - with an older export of the "+
		"cluster: say what has changed since; repeatable")
	input.StringVar(&f.failOn, "fail-on", failNever, "exit with code 1 when something of this severity or above does "+
		"not add up or is found by lint: "+strings.Join(failModes, ", "))
	input.BoolVar(&f.strict, "strict", false, "exit with code 3 when something is not known for lack of evidence")
	input.BoolVar(&f.allResources, "all-resources", false, "take cpu, memory and what every pod has into the ledger, "+
		"too")
	f.registerConfig(input, "the configuration of lint: which rules, how severe, and what is left out")
	addRulesFlag(input, &f.packs)

	kueue := pflag.NewFlagSet(kueueGroup, pflag.ContinueOnError)
	f.registerKueue(kueue)

	output := pflag.NewFlagSet(outputGroup, pflag.ContinueOnError)
	output.StringVarP(&f.output, "output", "o", "text", "output format: "+strings.Join(report.AuditFormats, ", "))
	output.StringVar(&f.color, "color", "auto", "colour: auto (on a terminal, unless NO_COLOR is set), always or never")

	addGroups(cmd, group{inputGroup, input}, group{kueueGroup, kueue}, group{outputGroup, output},
		group{connectionGroup, connection})
	registerCompletions(cmd)
	setUsage(cmd, "namespace", "namespace of the objects of -f that name none")
}

func (f *auditFlags) toOptions(env Env) (*auditOptions, error) {
	format := f.output
	f.output = "text"
	l, err := f.lintFlags.toOptions(env, nil)
	f.output = format
	if err != nil {
		return nil, err
	}
	o := &auditOptions{lintOptions: l, compare: f.compare, strict: f.strict, allResources: f.allResources}
	all := flags{filenames: f.filenames, from: slices.Concat(f.from, f.compare), config: f.config}
	if err := all.checkInputs(); err != nil {
		return nil, err
	}
	o.claims, o.output = true, format
	// Without a namespace of its own: the whole cluster is audited.
	o.showsAll = true
	terminal := env.terminal(f.color)
	if o.live {
		terminal.Now = env.Now()
	}
	o.printer, err = report.NewAuditPrinter(report.Options{Format: format, Terminal: terminal})
	return o, err
}

// configure reads the project's configuration of lint, so that audit tells the findings that lint tells. It is not for
// the ledger, which is about the cluster there is: the version of Kueue stands in only where the input tells none, and
// what fails a job is for --fail-on to say.
func (f *auditFlags) configure(cmd *cobra.Command, o *auditOptions) error {
	if err := f.configureRules(cmd.Flags().Changed, o.lintOptions); err != nil {
		return err
	}
	o.supposed = config.Supposed{Version: o.project.KueueVersion, By: "kueueVersion of " +
		cmp.Or(f.lintConfig, lintconfig.FileName)}
	return nil
}

func runAudit(ctx context.Context, env Env, o *auditOptions) error {
	r, in, err := auditOnce(ctx, env, o)
	if err != nil {
		return err
	}
	doc := report.NewAudit(r, o.rules, version)
	if len(o.compare) > 0 {
		older := o.older()
		was, from, err := auditOnce(ctx, env, older)
		if err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
		doc.Since(strings.Join(o.compare, ", "), r.Compare(was))
		in.Snapshot.Problems = append(in.Snapshot.Problems, from.Snapshot.Problems...)
	}
	if err := o.printer.Print(env.Out, doc); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return o.verdict(r, in)
}

// auditOnce reads the input, lints it and audits it.
func auditOnce(ctx context.Context, env Env, o *auditOptions) (*audit.Report, *lintInput, error) {
	in, err := readLint(ctx, env, o.lintOptions)
	if err != nil {
		return nil, nil, err
	}
	findings, layers, err := lint.RunComputed(ctx, in.Input, o.ruleOptions())
	if err != nil {
		return nil, nil, err
	}
	conf := layers.Config
	conf.Assumptions = slices.Concat(conf.Assumptions, layers.Decider().Assumptions(), layers.Inventory().Assumptions())
	o.choose(in, findings)
	if err := o.suppressKnown(findings); err != nil {
		return nil, nil, err
	}
	if err := checkRead(env, in.Snapshot); err != nil {
		return nil, nil, err
	}
	return audit.New(audit.Input{Layers: layers, Findings: findings, AllResources: o.allResources}), in, ctx.Err()
}

// older are the options to audit what --compare names.
func (o *auditOptions) older() *auditOptions {
	read, lint, out := *o.options, *o.lintOptions, *o
	read.from, read.filenames, read.live, read.namespace = o.compare, nil, false, ""
	lint.options, out.lintOptions = &read, &lint
	return &out
}

// verdict is the error that leads to exit code 1, 2 or 3.
func (o *auditOptions) verdict(r *audit.Report, in *lintInput) error {
	if len(in.Snapshot.Problems) > 0 {
		return errUnreadable
	}
	if o.failOn != failNever &&
		slices.ContainsFunc(r.Severities(), func(s lint.Severity) bool { return s.AtLeast(lint.Severity(o.failOn)) }) {
		return errFindings
	}
	unknown, unread := len(r.Unknown)+len(r.Findings.Unevaluated), len(in.Snapshot.Coverage.Forbidden())
	if o.strict && unknown+unread > 0 {
		return errIncomplete{unknown: unknown, what: "unknown columns and rules", unread: unread}
	}
	return nil
}
