package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/collect"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

const collectLong = `Writes what answers about quota rest on into an archive, to be read with --from
elsewhere: queues, flavors, Workloads, jobs, pods, claims, templates, devices, and
Kueue's configuration. Nothing else of the cluster is read, and nothing is changed.

What may hold secrets is left out: values of environment variables, commands,
annotations other than those that decide a charge, managed fields, ConfigMaps other
than Kueue's. Secrets are never read. --redact names gives objects other names, the
same wherever a name stands, in the same order; classes, flavors and resources keep
theirs.

What you may not read is recorded in the archive: it counts as missing there, not as
absent.

Exit codes: 0 done; 2 a usage error, or the cluster could not be read; 3 some kinds
may not be read, under --strict. No file is left behind when it fails.`

const collectExample = `  # Everything, for somebody else to look at
  kubectl gpu-quota collect -o dump.tar.gz
  kubectl gpu-quota explain job/train -n team-a --from dump.tar.gz

  # Without the names of teams, jobs and nodes
  kubectl gpu-quota collect -o dump.tar.gz --redact names

  # One namespace; where you may not read all of them, that of your kubeconfig is read without -n, too
  kubectl gpu-quota collect -n team-a -o dump.tar.gz`

// redactions are the values of --redact.
var redactions = []string{"names"}

// collectFlags are the flags of collect, as given.
type collectFlags struct {
	output string
	redact []string
	strict bool
	config *genericclioptions.ConfigFlags
}

func newCollect(env Env) *cobra.Command {
	f := &collectFlags{}
	cmd := &cobra.Command{
		Use:               "collect -o FILE.tar.gz [flags]",
		Short:             "Write what answers rest on into an archive, to be read with --from",
		Long:              collectLong,
		Example:           collectExample,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(env); err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return f.run(cmd.Context(), env)
		},
	}
	f.config = genericclioptions.NewConfigFlags(true)
	f.config.CacheDir, f.config.DisableCompression = nil, nil
	connection := pflag.NewFlagSet(connectionGroup, pflag.ContinueOnError)
	f.config.AddFlags(connection)
	output := pflag.NewFlagSet(outputGroup, pflag.ContinueOnError)
	output.StringVarP(&f.output, "output", "o", "", "file to write, which ends in .tar.gz or .tgz; - for standard "+
		"output")
	output.StringSliceVar(&f.redact, "redact", nil, "what to replace: names")
	output.BoolVar(&f.strict, "strict", false, "exit with code 3 when a kind may not be read")
	addGroups(cmd, group{outputGroup, output}, group{connectionGroup, connection})
	setUsage(cmd, "namespace", "read this namespace only; the default is all")
	inGroup(cmd, "namespace", selectionGroup)
	// The only error is a flag that does not exist, which a test would show.
	_ = cmd.RegisterFlagCompletionFunc("redact", cobra.FixedCompletions(redactions, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *collectFlags) validate(env Env) error {
	for _, r := range f.redact {
		if !slices.Contains(redactions, r) {
			return fmt.Errorf("--redact must be one of %s, not %q", strings.Join(redactions, ", "), r)
		}
	}
	_, terminal := env.TerminalWidth(env.Out)
	switch {
	case f.output == "":
		return errors.New("name the file to write with -o, for example -o dump.tar.gz")
	case f.output == "-" && terminal:
		return errors.New("an archive is not written to a terminal: name a file with -o")
	case f.output != "-" && !strings.HasSuffix(f.output, ".tar.gz") && !strings.HasSuffix(f.output, ".tgz"):
		return fmt.Errorf("the dump is a tar.gz: name it so, for example -o %s.tar.gz", f.output)
	}
	return nil
}

func (f *collectFlags) run(ctx context.Context, env Env) error {
	o := &options{flags: flags{config: f.config}, namespace: *f.config.Namespace}
	if !o.leadsToCluster() {
		return errors.New("no cluster to collect from: set up a kubeconfig, or name a server with --server")
	}
	d := collect.New(collect.Options{
		Namespace: o.namespace, Program: currentVersion().Version, Time: env.Now(),
		ReplaceNames: slices.Contains(f.redact, "names"),
	})
	if err := readInto(ctx, o, d); err != nil {
		return err
	}
	for _, p := range d.Problems {
		fmt.Fprintln(env.ErrOut, p)
	}
	objects, kinds := d.Objects()
	if objects == 0 {
		return errors.New("nothing may be read of this cluster; name a namespace where you may with -n")
	}
	if err := f.write(env, d); err != nil {
		return fmt.Errorf("writing the dump: %w", err)
	}
	return f.report(env, d, objects, kinds)
}

// readInto reads the cluster, and of the kinds that may not be listed in all namespaces that of the kubeconfig.
func readInto(ctx context.Context, o *options, d *collect.Dump) error {
	all := source.LiveOptions{Getter: o.config, Namespace: o.namespace,
		Kinds: liveKinds(func(gk schema.GroupKind) bool { return gk != cluster.ConfigMap && gk != cluster.Namespace })}
	if err := source.ReadLive(ctx, all, d); err != nil {
		return err
	}
	own := source.LiveOptions{Getter: o.config, Kinds: slices.DeleteFunc(all.Kinds, func(k source.LiveKind) bool {
		return !k.Namespaced || !d.Forbidden(schema.GroupKind{Group: k.Group, Kind: k.Kind})
	})}
	if o.namespace == "" && len(own.Kinds) > 0 {
		namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
		if err != nil {
			return fmt.Errorf("kubeconfig: %w", err)
		}
		own.Namespace = namespace
		if err := source.ReadLive(ctx, own, d.In(namespace)); err != nil {
			return err
		}
	}
	single := liveReader{o: o, sink: d, part: d.Part()}
	if err := single.readNamespaces(ctx); err != nil {
		return err
	}
	if err := single.readManager(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// write writes the dump in one piece: a file that is there is whole.
func (f *collectFlags) write(env Env, d *collect.Dump) error {
	if f.output == "-" {
		return d.Write(env.Out)
	}
	partial, err := os.CreateTemp(filepath.Dir(f.output), "."+filepath.Base(f.output)+".*")
	if err != nil {
		return err
	}
	// After the rename there is nothing to remove.
	defer os.Remove(partial.Name())
	if err := errors.Join(d.Write(partial), partial.Close()); err != nil {
		return err
	}
	return os.Rename(partial.Name(), f.output)
}

func (f *collectFlags) report(env Env, d *collect.Dump, objects, kinds int) error {
	fmt.Fprintf(env.ErrOut, "wrote %s: %d objects of %d kinds\n", f.output, objects, kinds)
	unread := d.Unread()
	if len(unread) > 0 {
		fmt.Fprintf(env.ErrOut, "warning: could not read, and recorded as missing: %s\n", strings.Join(unread, ", "))
	}
	switch {
	case len(d.Problems) > 0:
		return errUnreadable
	case f.strict && len(unread) > 0:
		return errIncomplete{unread: len(unread)}
	}
	return nil
}
