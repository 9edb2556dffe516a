package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

const (
	configKey          = "controller_manager_config.yaml"
	configField        = `data["` + configKey + `"]`
	upstreamNamespace  = "kueue-system"
	openShiftNamespace = "openshift-kueue-operator"
)

// homeRank orders namespaces by how likely the manager lives there.
func homeRank(namespace string) int {
	switch namespace {
	case upstreamNamespace:
		return 0
	case openShiftNamespace:
		return 1
	}
	return 2
}

// manager is the Deployment of Kueue's manager.
type manager struct {
	object     *cluster.Object
	deployment *appsv1.Deployment
	container  *corev1.Container
}

// findManager picks the Deployment of the manager; others are those that look like one as well.
func findManager(snap *cluster.Snapshot) (m *manager, others []*cluster.Object) {
	var found []manager
	for o, d := range cluster.All[*appsv1.Deployment](snap, cluster.Deployment) {
		if c := managerContainer(d); c != nil {
			found = append(found, manager{o, d, c})
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(found, func(a, b manager) int {
		return cmp.Or(laidFirst(a.object, b.object),
			cmp.Compare(homeRank(a.object.Ref.Namespace), homeRank(b.object.Ref.Namespace)))
	})
	for _, other := range found[1:] {
		others = append(others, other.object)
	}
	return &found[0], others
}

// ManagerConfigMaps tells whether a Deployment is that of Kueue's manager, and which ConfigMaps its pods mount: one
// of them holds the configuration.
func ManagerConfigMaps(d *appsv1.Deployment) (names []string, isManager bool) {
	if managerContainer(d) == nil {
		return nil, false
	}
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.ConfigMap != nil {
			names = append(names, v.ConfigMap.Name)
		}
	}
	return names, true
}

func laidFirst(a, b *cluster.Object) int {
	switch {
	case a.Laid == b.Laid:
		return 0
	case a.Laid:
		return -1
	}
	return 1
}

// managerContainer returns the manager's container when the Deployment is Kueue's: by its name, or by the label every
// controller manager carries and an image of Kueue.
func managerContainer(d *appsv1.Deployment) *corev1.Container {
	containers := d.Spec.Template.Spec.Containers
	if len(containers) == 0 {
		return nil
	}
	byImage := slices.IndexFunc(containers, func(c corev1.Container) bool { return strings.Contains(c.Image, "kueue") })
	labelled := d.Labels["control-plane"] == "controller-manager" && byImage >= 0
	if !strings.Contains(d.Name, "kueue-controller-manager") && !labelled {
		return nil
	}
	if byName := slices.IndexFunc(containers,
		func(c corev1.Container) bool { return c.Name == "manager" }); byName >= 0 {
		return &containers[byName]
	}
	return &containers[max(byImage, 0)]
}

// imageTag is the tag of an image reference; empty when it has none or only a digest.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, last, _ := cutLast(image, "/")
	_, tag, _ := strings.Cut(last, ":")
	return tag
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// flag returns the value of a command-line flag of the manager; the last one counts.
func (m *manager) flag(name string) (value string, given bool) {
	args := slices.Concat(m.container.Command, m.container.Args)
	for i, arg := range args {
		for _, dashes := range []string{"--", "-"} {
			rest, ok := strings.CutPrefix(arg, dashes+name)
			switch {
			case !ok:
			case strings.HasPrefix(rest, "="):
				value, given = rest[1:], true
			case rest == "" && i+1 < len(args):
				value, given = args[i+1], true
			}
		}
	}
	return value, given
}

// mounts tells whether the pods of the manager mount the ConfigMap.
func (m *manager) mounts(configMap *cluster.Object) bool {
	if m == nil || m.object.Ref.Namespace != configMap.Ref.Namespace {
		return false
	}
	return slices.ContainsFunc(m.deployment.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil && v.ConfigMap.Name == configMap.Ref.Name
	})
}

// findConfigMap picks the ConfigMap with the manager's configuration; others hold one as well.
func findConfigMap(snap *cluster.Snapshot, m *manager) (chosen *cluster.Object, others []*cluster.Object) {
	var found []*cluster.Object
	for o, c := range cluster.All[*corev1.ConfigMap](snap, cluster.ConfigMap) {
		if _, ok := c.Data[configKey]; ok {
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	rank := func(o *cluster.Object) int {
		named := strings.HasSuffix(o.Ref.Name, "manager-config")
		switch {
		case m.mounts(o):
			return 0
		case named && m != nil && m.object.Ref.Namespace == o.Ref.Namespace:
			return 1
		case named:
			return 2 + homeRank(o.Ref.Namespace)
		}
		return 5 + homeRank(o.Ref.Namespace)
	}
	slices.SortStableFunc(found, func(a, b *cluster.Object) int {
		return cmp.Or(laidFirst(a, b), cmp.Compare(rank(a), rank(b)))
	})
	return found[0], found[1:]
}

// otherNames lists objects for a sentence.
func otherNames(objects []*cluster.Object) string {
	var names []string
	for _, o := range objects {
		names = append(names, o.Ref.String())
	}
	return strings.Join(names, ", ")
}

func severalSentence(what string, chosen *cluster.Object, others []*cluster.Object) string {
	return fmt.Sprintf("the input holds several %s; %s is used, not %s", what, chosen.Ref, otherNames(others))
}
