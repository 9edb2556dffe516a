package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

var errNoInput = errors.New("no cluster and no input: name an export with --from or files with -f, or set up a kubeconfig")

// managerNamespaces are where Kueue's manager usually runs: upstream's manifests and the Red Hat build.
var managerNamespaces = []string{"kueue-system", "openshift-kueue-operator"}

// managerConfigKey is the key of the ConfigMap the manager is configured by.
const managerConfigKey = "controller_manager_config.yaml"

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
	namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	o.laidNamespace = namespace
	if !o.allNamespaces {
		o.namespace = namespace
	}
	l := liveReader{o: o, sink: b.Sink(cluster.InputOptions{Live: true})}
	// The manager's ConfigMap is looked for by itself: a cluster's ConfigMaps are many, and in other namespaces.
	kinds := liveKinds(func(gk schema.GroupKind) bool { return needed(gk) && gk != cluster.ConfigMap })
	if o.everywhere && o.namespace != "" {
		err = l.readEverywhere(ctx, kinds, b)
	} else {
		err = l.read(ctx, kinds, o.namespace, l.sink)
	}
	if err == nil {
		err = l.readManager(ctx)
	}
	if err != nil && len(o.filenames) > 0 && ctx.Err() == nil {
		return fmt.Errorf("%w; to take files for the whole cluster, name them with --from", err)
	}
	return err
}

func liveKinds(wanted func(schema.GroupKind) bool) []source.LiveKind {
	var out []source.LiveKind
	for _, k := range cluster.Kinds() {
		if k.Live && wanted(k.GroupKind) {
			out = append(out, source.LiveKind{Group: k.Group, Resource: k.Resource, Kind: k.Kind, Versions: k.Versions, Namespaced: k.Namespaced})
		}
	}
	return out
}

// liveReader reads one cluster in several steps.
type liveReader struct {
	o    *options
	sink source.Sink
}

func (l liveReader) read(ctx context.Context, kinds []source.LiveKind, namespace string, sink source.Sink) error {
	return source.ReadLive(ctx, source.LiveOptions{Getter: l.o.config, Kinds: kinds, Namespace: namespace}, sink)
}

// readEverywhere reads all namespaces and, of the kinds that may not be listed in all, the user's own.
func (l liveReader) readEverywhere(ctx context.Context, kinds []source.LiveKind, b inlet) error {
	refused := &refusals{Sink: l.sink, kinds: map[schema.GroupKind]bool{}}
	if err := l.read(ctx, kinds, "", refused); err != nil {
		return err
	}
	kinds = slices.DeleteFunc(kinds, func(k source.LiveKind) bool {
		return !k.Namespaced || !refused.kinds[schema.GroupKind{Group: k.Group, Kind: k.Kind}]
	})
	if len(kinds) == 0 {
		return nil
	}
	return l.read(ctx, kinds, l.o.namespace, b.Sink(cluster.InputOptions{Live: true, Within: l.o.namespace}))
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

// readManager reads the manager's ConfigMap and Deployment: from the namespaces where they usually are,
// which also those may read who may not list all namespaces, else from all.
func (l liveReader) readManager(ctx context.Context) error {
	configs := liveKinds(func(gk schema.GroupKind) bool { return gk == cluster.ConfigMap })
	manager := liveKinds(func(gk schema.GroupKind) bool { return gk == cluster.Deployment })
	for _, namespace := range managerNamespaces {
		look := &configProbe{Sink: l.sink}
		if err := l.read(ctx, configs, namespace, look); err != nil {
			return err
		}
		if !look.found {
			continue
		}
		if l.o.namespace == "" {
			return nil // the Deployments of all namespaces are read already
		}
		return l.read(ctx, manager, namespace, &configProbe{Sink: l.sink})
	}
	return l.read(ctx, configs, "", l.sink)
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

// configProbe looks whether a namespace holds the manager's configuration. What it lacks is no finding.
type configProbe struct {
	source.Sink
	found bool
}

func (p *configProbe) Document(d source.Document) {
	p.found = p.found || bytes.Contains(d.JSON, []byte(managerConfigKey))
	p.Sink.Document(d)
}

func (p *configProbe) Listed(string, string)          {}
func (p *configProbe) Missing(string, string, string) {}
