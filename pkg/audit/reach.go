package audit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// reach is the hardware a flavor leads to: all of it, or that of the nodes with the flavor's labels.
type reach struct {
	all   bool
	nodes []*corev1.Node
	named map[string]bool
	// missing are the kinds without which it is not known.
	missing []string
}

// reachOf is the reach of a flavor. No flavor leads to no hardware.
func (b *builder) reachOf(flavor string) *reach {
	if r := b.reaches[flavor]; r != nil {
		return r
	}
	r := &reach{named: map[string]bool{}}
	b.reaches[flavor] = r
	object := cluster.As[*kueue.ResourceFlavor](b.snap.Get(cluster.ResourceFlavor, "", flavor))
	switch {
	case flavor == "":
		return r
	case object == nil:
		if !b.snap.Coverage.Has(cluster.ResourceFlavor) {
			r.missing = []string{cluster.ResourceFlavor.Kind}
		}
		return r
	case len(object.Spec.NodeLabels) == 0:
		r.all = true
	case !b.snap.Coverage.Has(cluster.Node):
		r.missing = []string{cluster.Node.Kind}
	}
	for _, node := range cluster.All[*corev1.Node](b.snap, cluster.Node) {
		if labelled(node, object.Spec.NodeLabels) {
			r.nodes = append(r.nodes, node)
			r.named[node.Name] = true
		}
	}
	return r
}

func labelled(node *corev1.Node, labels map[string]string) bool {
	for k, v := range labels {
		if got, ok := node.Labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// has tells that a device can be had on a node of the flavor.
func (r *reach) has(at device.Place) bool {
	switch {
	case r.all:
		return true
	case at.Node != "":
		return r.named[at.Node]
	case at.Everywhere:
		return len(r.nodes) > 0
	case at.Selector == nil:
		return false
	}
	matcher, err := nodeaffinity.NewNodeSelector(at.Selector)
	return err == nil && slices.ContainsFunc(r.nodes, matcher.Match)
}
