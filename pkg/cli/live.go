package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

var errNoInput = errors.New("no cluster and no input: name an export with --from or files with -f, or set up a " +
	"kubeconfig")

// readLive reads the cluster the connection flags lead to. Where nothing leads to any, the files of -f stand alone.
func readLive(ctx context.Context, env Env, o *options, b inlet) error {
	if !o.leadsToCluster() {
		if len(o.filenames) == 0 {
			return errNoInput
		}
		fmt.Fprintln(env.ErrOut, "no kubeconfig found: the files of -f are all there is")
		o.namespace = *o.config.Namespace
		o.laidNamespace, o.filesAlone = o.namespace, true
		return nil
	}
	err := o.setNamespace()
	if err != nil {
		return err
	}
	l := newLiveReader(o, b)
	stop := showProgress(env, l.progress)
	err = l.readAll(ctx)
	stop()
	if err != nil && len(o.filenames) > 0 && ctx.Err() == nil {
		return fmt.Errorf("%w; to take files for the whole cluster, name them with --from", err)
	}
	return err
}

// setNamespace takes the namespace of the flags or the kubeconfig, unless all are asked for.
func (o *options) setNamespace() error {
	namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	o.laidNamespace = namespace
	if !o.allNamespaces {
		o.namespace = namespace
	}
	return nil
}

// liveReader reads one cluster in several steps.
type liveReader struct {
	o *options
	// sink takes what is read of all that the answer is about, within what is read of one namespace alone, and
	// part single objects, which tell nothing of others.
	sink, within, part source.Sink
	progress           *source.Progress
}

func newLiveReader(o *options, b inlet) liveReader {
	return liveReader{
		o: o, progress: &source.Progress{},
		sink:   b.Sink(cluster.InputOptions{Live: true}),
		within: b.Sink(cluster.InputOptions{Live: true, Within: o.namespace}),
		part:   b.Sink(cluster.InputOptions{Live: true, Part: true}),
	}
}

// readAll reads everything the answer rests on.
func (l liveReader) readAll(ctx context.Context) error {
	// The manager's ConfigMap is looked for by itself: a cluster's ConfigMaps are many, and in other namespaces.
	kinds := liveKinds(func(gk schema.GroupKind) bool {
		return l.o.needed(gk) && gk != cluster.ConfigMap && gk != cluster.Namespace
	})
	if err := l.readKinds(ctx, kinds); err != nil || l.o.only != nil {
		return err
	}
	if err := l.readNamespaces(ctx); err != nil {
		return err
	}
	return l.readManager(ctx)
}

// competing are the kinds that decide about a workload from other namespaces: what is charged and waits there, and what
// holds devices.
var competing = []schema.GroupKind{cluster.Workload, cluster.LocalQueue, cluster.LimitRange,
	cluster.ResourceClaimTemplate, cluster.ResourceClaim}

// readKinds reads the namespace asked for, or all; where the answer depends on other namespaces, also what decides
// there, and of the kinds that may not be listed in all namespaces the user's own.
func (l liveReader) readKinds(ctx context.Context, kinds []source.LiveKind) error {
	if !l.o.everywhere || l.o.namespace == "" {
		return l.read(ctx, source.LiveOptions{Kinds: kinds, Namespace: l.o.namespace}, l.sink)
	}
	refused := &refusals{Sink: l.sink, kinds: map[schema.GroupKind]bool{}}
	groupKind := func(k source.LiveKind) schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }
	local := func(k source.LiveKind) bool {
		return k.Namespaced && !l.o.showsAll && !slices.Contains(competing, groupKind(k))
	}
	err := l.read(ctx, source.LiveOptions{Kinds: slices.DeleteFunc(slices.Clone(kinds), local)}, refused)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(kinds,
		func(k source.LiveKind) bool { return !local(k) && (!k.Namespaced || !refused.kinds[groupKind(k)]) })
	return l.read(ctx, source.LiveOptions{Kinds: own, Namespace: l.o.namespace}, l.within)
}

// refusals remembers the kinds that may not be listed.
type refusals struct {
	source.Sink
	kinds map[schema.GroupKind]bool
}

func (r *refusals) Missing(group, kind, reason string) {
	if reason != source.NotServed {
		r.kinds[schema.GroupKind{Group: group, Kind: kind}] = true
	}
	r.Sink.Missing(group, kind, reason)
}

// readNamespaces reads all namespaces, and where that is not allowed the one that is asked about: its users
// may read it.
func (l liveReader) readNamespaces(ctx context.Context) error {
	namespaces := liveKinds(is(cluster.Namespace))
	if l.o.namespace == "" {
		return l.read(ctx, source.LiveOptions{Kinds: namespaces}, l.sink)
	}
	all := &listProbe{Sink: l.sink}
	if err := l.read(ctx, source.LiveOptions{Kinds: namespaces}, all); err != nil || all.missing == "" {
		return err
	}
	namespaces[0].Name = l.o.namespace
	return l.read(ctx, source.LiveOptions{Kinds: namespaces}, l.part)
}

func (l liveReader) read(ctx context.Context, opts source.LiveOptions, sink source.Sink) error {
	opts.Getter, opts.Progress = l.o.config, l.progress
	return source.ReadLive(ctx, opts, sink)
}

// liveKinds are the kinds to list from a live cluster.
func liveKinds(wanted func(schema.GroupKind) bool) []source.LiveKind {
	var out []source.LiveKind
	for _, k := range cluster.Kinds() {
		if k.Live && wanted(k.GroupKind) {
			out = append(out, source.LiveKind{Group: k.Group, Resource: k.Resource, Kind: k.Kind, Versions: k.Versions,
				Namespaced: k.Namespaced, MetadataOnly: k.MetadataOnly})
		}
	}
	return out
}

func is(gk schema.GroupKind) func(schema.GroupKind) bool {
	return func(other schema.GroupKind) bool { return other == gk }
}

// needed tells which kinds the answer rests on: those of every answer, without the pods and what makes pods
// where only jobs of other kinds are asked for.
func (o *options) needed(gk schema.GroupKind) bool {
	if !o.reads(gk) {
		return false
	}
	if o.fit && gk == cluster.Pod {
		return true
	}
	return !slices.Contains(podKinds, gk) || len(o.targets) == 0 ||
		slices.ContainsFunc(o.targets, func(t target) bool { return ofPods(t.kind) })
}

var (
	// podKinds are many and large, and only matter to workloads made of pods.
	podKinds = []schema.GroupKind{cluster.Pod, cluster.ReplicaSet, cluster.Deployment, cluster.StatefulSet}
)

// ofPods tells that what a kind is charged is found in pods; the other kinds of jobs say themselves what their pods
// are.
func ofPods(gk schema.GroupKind) bool {
	i := slices.IndexFunc(jobs.All(), func(k *jobs.Kind) bool { return k.GroupKind == gk })
	return i < 0 || jobs.All()[i].OfPods
}

// leadsToCluster tells whether a kubeconfig, a flag or the pod this runs in says which cluster to read.
func (o *options) leadsToCluster() bool {
	for _, flag := range []*string{o.config.APIServer, o.config.Context, o.config.ClusterName, o.config.KubeConfig} {
		if flag != nil && *flag != "" {
			return true
		}
	}
	// A kubeconfig that can't be read is an error of its own, told when it is used.
	raw, err := o.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil || len(raw.Clusters) > 0 || len(raw.Contexts) > 0 {
		return true
	}
	_, err = rest.InClusterConfig()
	return err == nil
}

// listProbe passes objects on, and keeps to itself that there are none to see.
type listProbe struct {
	source.Sink
	missing string
}

func (p *listProbe) Missing(_, _, reason string) { p.missing = reason }
