package cli

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// managerHomes are where Kueue's manager usually runs, and under which names: upstream's manifests, and the Red Hat
// build.
var managerHomes = []struct{ namespace, deployment, configMap string }{
	{"kueue-system", "kueue-controller-manager", "kueue-manager-config"},
	{"openshift-kueue-operator", "kueue-controller-manager", "kueue-manager-config"},
}

const (
	// managerLabel is on the Deployment of the manager, as on that of every controller made with Kubebuilder.
	managerLabel = "control-plane=controller-manager"
	// installationLabel is on everything Kueue's manifests and its chart install.
	installationLabel = "app.kubernetes.io/name=kueue"
)

// readManager finds Kueue's manager and reads its Deployment and the ConfigMap it is configured by: first by what
// every installation has in common, in all namespaces; where that is not allowed or finds nothing, by the names of
// the usual installations, which those may read who may read nothing else there.
func (l liveReader) readManager(ctx context.Context) error {
	found := &managerSink{Sink: l.part}
	everywhere := source.LiveOptions{Kinds: liveKinds(is(cluster.Deployment)), LabelSelector: managerLabel}
	if err := l.read(ctx, everywhere, found); err != nil {
		return err
	}
	for _, home := range managerHomes {
		if len(found.configMaps) > 0 {
			break
		}
		if err := l.readNamed(ctx, cluster.Deployment, home.namespace, home.deployment, found); err != nil {
			return err
		}
	}
	// A manager that mounts nothing, or that may not be seen, may have its configuration in the usual place.
	places := found.configMaps
	if len(places) == 0 {
		for _, home := range managerHomes {
			places = append(places, objectName{home.namespace, home.configMap})
		}
	}
	config := &listProbe{Sink: &countingSink{Sink: l.part, n: &found.configs}}
	for _, place := range places {
		if err := l.readNamed(ctx, cluster.ConfigMap, place.namespace, place.name, config); err != nil {
			return err
		}
	}
	switch {
	case found.configs > 0:
		return nil
	case len(found.configMaps) > 0:
		if config.missing != "" {
			l.part.Missing(cluster.ConfigMap.Group, cluster.ConfigMap.Kind, config.missing)
		}
		return nil
	}
	return l.read(ctx, source.LiveOptions{Kinds: liveKinds(is(cluster.ConfigMap)), LabelSelector: installationLabel},
		l.part)
}

// readNamed reads one object.
func (l liveReader) readNamed(ctx context.Context, gk schema.GroupKind, namespace, name string,
	sink source.Sink) error {
	kinds := liveKinds(is(gk))
	kinds[0].Name = name
	return l.read(ctx, source.LiveOptions{Kinds: kinds, Namespace: namespace}, sink)
}

type objectName struct{ namespace, name string }

// managerSink keeps of Deployments those of Kueue's manager, and remembers the ConfigMaps they mount.
type managerSink struct {
	source.Sink
	configMaps []objectName
	configs    int
}

func (m *managerSink) Document(d source.Document) {
	var deployment appsv1.Deployment
	if json.Unmarshal(d.JSON, &deployment) != nil {
		return // the complete list tells what is wrong with it
	}
	names, isManager := config.ManagerConfigMaps(&deployment)
	if !isManager {
		return
	}
	for _, name := range names {
		m.configMaps = append(m.configMaps, objectName{deployment.Namespace, name})
	}
	m.Sink.Document(d)
}

func (m *managerSink) Missing(string, string, string) {}

// countingSink counts the objects that pass.
type countingSink struct {
	source.Sink
	n *int
}

func (c *countingSink) Document(d source.Document) {
	*c.n++
	c.Sink.Document(d)
}
