package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// completionTime is how long somebody who pressed the tab key is left waiting.
const completionTime = 3 * time.Second

// completeTargets completes TYPE, TYPE/NAME and TYPE NAME, with names from the cluster or the export.
func (f *flags) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind, name, slash := strings.Cut(typed, "/")
	prefix := kind + "/"
	if !slash {
		if len(args) == 0 || strings.Contains(args[0], "/") {
			return completeTypes(cmd, args, typed)
		}
		// TYPE NAME NAME …
		kind, name, prefix = args[0], typed, ""
	}
	gk, err := kindNamed(typeNames(), kind)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, n := range f.names(cmd.Context(), gk) {
		if strings.HasPrefix(n, name) && !slices.Contains(args, prefix+n) {
			out = append(out, prefix+n)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeQueues completes the names of ClusterQueues and of the cohorts that have an object.
func (f *flags) completeQueues(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind, name, typedKind := strings.Cut(typed, "/")
	kinds, prefix := map[string]schema.GroupKind{kindQueue: cluster.ClusterQueue, kindCohort: cluster.Cohort}, ""
	if typedKind {
		of := queueKinds[strings.ToLower(kind)]
		kinds, prefix = map[string]schema.GroupKind{of: kinds[of]}, kind+"/"
	} else {
		name = typed
	}
	var out []string
	for _, gk := range kinds {
		for _, n := range f.names(cmd.Context(), gk) {
			if strings.HasPrefix(n, name) && !slices.Contains(args, prefix+n) {
				out = append(out, prefix+n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}

// completeNamespaces completes the name of a namespace.
func (f *flags) completeNamespaces(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(f.names(cmd.Context(), cluster.Namespace),
		func(n string) bool { return !strings.HasPrefix(n, typed) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// names lists the names of a kind, of the chosen namespace if one is. Whatever goes wrong, there are just none:
// this is no place for messages.
func (f *flags) names(ctx context.Context, gk schema.GroupKind) []string {
	k, ok := cluster.FindKind(gk)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	o := &options{flags: *f}
	if len(f.from) > 0 {
		return namesInExport(ctx, o, k)
	}
	if !o.leadsToCluster() {
		return nil
	}
	namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil
	}
	if f.allNamespaces {
		namespace = ""
	}
	kinds := liveKinds(func(other schema.GroupKind) bool { return other == gk })
	if len(kinds) != 1 {
		return nil
	}
	names, err := source.ReadNames(ctx, source.LiveOptions{Getter: o.config, Namespace: namespace}, kinds[0])
	if err != nil {
		return nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func namesInExport(ctx context.Context, o *options, k cluster.Kind) []string {
	if slices.Contains(o.from, "-") {
		return nil // standard input is the shell's here
	}
	b := cluster.NewBuilder(func(gk schema.GroupKind) bool { return gk == k.GroupKind })
	err := readExport(ctx, Env{}, o, b)
	snap := b.Build()
	if err != nil {
		return nil
	}
	var names []string
	for _, object := range snap.List(k.GroupKind) {
		if !k.Namespaced || o.namespace == "" || object.Ref.Namespace == o.namespace {
			names = append(names, object.Ref.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// completeKubeconfig completes the names of contexts, clusters and users.
func (f *flags) completeKubeconfig(cmd *cobra.Command) {
	entries := map[string]func(*clientcmdapi.Config) []string{
		"context": func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) },
		"cluster": func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) },
		"user":    func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) },
	}
	for flag, names := range entries {
		// The only error is a flag that does not exist, which a test would show.
		_ = cmd.RegisterFlagCompletionFunc(flag,
			func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				raw, err := f.config.ToRawKubeConfigLoader().RawConfig()
				if err != nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				out := slices.DeleteFunc(names(&raw), func(n string) bool { return !strings.HasPrefix(n, typed) })
				return out, cobra.ShellCompDirectiveNoFileComp
			})
	}
	_ = cmd.RegisterFlagCompletionFunc("namespace", f.completeNamespaces)
}
