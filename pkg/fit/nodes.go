package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// placing is what decides which nodes the pods of a pod set may use.
type placing struct {
	spec *corev1.PodSpec
	// flavors that the pod set gets: Kueue adds their labels to the node selector, and their tolerations.
	flavors []*kueue.ResourceFlavor
}

// placingOf finds the flavors of a pod set.
func (c *Checker) placingOf(ps *workload.PodSet, flavors []string) placing {
	p := placing{spec: &ps.Template.Spec}
	for _, name := range flavors {
		if f := cluster.As[*kueue.ResourceFlavor](c.snap.Get(cluster.ResourceFlavor, "", name)); f != nil {
			p.flavors = append(p.flavors, f)
		}
	}
	return p
}

// constrained tells that not every node will do, whatever its taints.
func (p placing) constrained() bool {
	for _, f := range p.flavors {
		if len(f.Spec.NodeLabels) > 0 {
			return true
		}
	}
	return len(p.spec.NodeSelector) > 0 || p.spec.NodeName != "" ||
		p.spec.Affinity != nil && p.spec.Affinity.NodeAffinity != nil &&
			p.spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// excludes tells why a node can't be used; nil when it can.
func (p placing) excludes(node *corev1.Node) *Reason {
	for _, f := range p.flavors {
		if missing := lacking(node, f.Spec.NodeLabels); missing != "" {
			return &Reason{Code: NodeSelector, Text: fmt.Sprintf("the node is not of flavor %s, whose nodes have the "+
				"labels %s", f.Name, missing)}
		}
	}
	if missing := lacking(node, p.spec.NodeSelector); missing != "" {
		return &Reason{Code: NodeSelector, Text: "the node lacks labels of the pod's node selector: " + missing}
	}
	if p.spec.NodeName != "" && p.spec.NodeName != node.Name {
		return &Reason{Code: NodeSelector, Text: "the pod is bound to node " + p.spec.NodeName}
	}
	if ok, err := nodeaffinity.NewRequiredNodeAffinity(nil, p.spec.Affinity).Match(node); err != nil {
		return &Reason{Code: NodeSelector, Text: "the pod's node affinity can't be evaluated: " + err.Error()}
	} else if !ok {
		return &Reason{Code: NodeSelector, Text: "the pod's node affinity excludes the node"}
	}
	return p.untolerated(node)
}

// untolerated is the first taint of a node that keeps the pod away.
func (p placing) untolerated(node *corev1.Node) *Reason {
	tolerations := slices.Clone(p.spec.Tolerations)
	for _, f := range p.flavors {
		tolerations = append(tolerations, f.Spec.Tolerations...)
	}
	taints := slices.Clone(node.Spec.Taints)
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	keepsAway := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	taint, found := corev1helpers.FindMatchingUntoleratedTaint(logr.Discard(), taints, tolerations, keepsAway, false)
	if !found {
		return nil
	}
	return &Reason{Code: NodeTaint, Text: "the node has a taint that the pod does not tolerate: " + taint.ToString()}
}

// lacking are the labels that a node does not have, as key=value.
func lacking(node *corev1.Node, labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, ok := node.Labels[key]; !ok || value != labels[key] {
			out = append(out, key+"="+labels[key])
		}
	}
	return strings.Join(out, ", ")
}

// elsewhere tells why a node can't use a claim that is allocated already.
func elsewhere(a *ask, allocation *resourcev1.AllocationResult, node *corev1.Node) *Reason {
	if allocation.NodeSelector == nil {
		return nil
	}
	selector, err := nodeaffinity.NewNodeSelector(allocation.NodeSelector)
	if err == nil && selector.Match(node) {
		return nil
	}
	return &Reason{Code: ClaimElsewhere, Claim: a.name, Text: fmt.Sprintf("claim %s (ResourceClaim %s) is allocated "+
		"where this node can't use it", a.name, a.claim.Name)}
}
