package rules

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var bothWays = &lint.Rule{
	ID: "GQ312", Name: "device-plugin-and-claims", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "The same GPUs are asked for, or offered, through the device plugin and through claims",
		Why: "A device plugin and a DRA driver know nothing of each other. A pod that asks both ways gets, and is " +
			"charged for, two devices; a node that offers its GPUs both ways has them counted, and given out, twice.",
		Bad: "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]   # gpu.nvidia.com\ncontainers:\n- " +
			"resources: {limits: {nvidia.com/gpu: 1}, claims: [{name: gpu}]}\n",
		Good:  "containers:\n- resources: {claims: [{name: gpu}]}\n",
		Since: "every version",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for t := range p.PodTemplates() {
			claimed := claimedClasses(p, t)
			for c := range containers(t.Spec()) {
				checkBothWays(p, t, c, claimed)
			}
		}
		checkNodes(p)
	},
}

// claimedClasses are the device classes that a pod claims, with the claims of the pod.
func claimedClasses(p *lint.Pass, t lint.PodTemplate) map[string]int {
	out := map[string]int{}
	for i, c := range t.Spec().ResourceClaims {
		if c.ResourceClaimTemplateName == nil {
			continue
		}
		of, _, ok := cluster.Lookup[*resourcev1.ResourceClaimTemplate](p.Snapshot, cluster.ResourceClaimTemplate,
			t.Namespace(), *c.ResourceClaimTemplateName)
		if !ok {
			continue
		}
		for _, r := range of.Spec.Spec.Devices.Requests {
			if r.Exactly != nil {
				out[r.Exactly.DeviceClassName] = i
			}
		}
	}
	return out
}

func checkBothWays(p *lint.Pass, t lint.PodTemplate, c container, claimed map[string]int) {
	for _, list := range []struct {
		field string
		of    corev1.ResourceList
	}{{"requests", c.of.Resources.Requests}, {"limits", c.of.Resources.Limits}} {
		for _, name := range sortedNames(list.of) {
			class := sameVendor(name, claimed)
			if class == "" || backedBy(p, name) != nil {
				continue // a DeviceClass stands behind the name: both are claims
			}
			p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("%s.resources.%s[%q]", c.path, list.field, name)).Name(),
				Related: []lint.Place{t.At(fmt.Sprintf("spec.resourceClaims[%d]", claimed[class])).Saying("claims " +
					class)},
				Message: fmt.Sprintf("the pod asks for %s and claims %s: these are two devices, and both are charged",
					name, class),
				Help: "ask for the device one way"})
			return
		}
	}
}

// sameVendor is the first class, by name, of the vendor that an extended resource is of: nvidia.com/gpu and
// gpu.nvidia.com.
func sameVendor(name corev1.ResourceName, classes map[string]int) string {
	domain, _, _ := strings.Cut(string(name), "/")
	first := ""
	for class := range classes {
		if isExtended(name) && strings.HasSuffix(class, "."+domain) && (first == "" || class < first) {
			first = class
		}
	}
	return first
}

// checkNodes reports nodes whose GPUs are offered both ways. A node that tells of an extended resource has a device
// plugin: what a DeviceClass backs does not show there.
func checkNodes(p *lint.Pass) {
	drivers := map[string]string{} // of slices with GPUs, by node
	for _, s := range cluster.All[*cluster.DeviceSlice](p.Snapshot, cluster.ResourceSlice) {
		if s.Spec.NodeName != nil && len(s.Spec.Devices) > 0 {
			drivers[*s.Spec.NodeName] = s.Spec.Driver
		}
	}
	var first *cluster.Object
	var name corev1.ResourceName
	nodes := 0
	for o, n := range cluster.All[*corev1.Node](p.Snapshot, cluster.Node) {
		driver := drivers[n.Name]
		for _, resource := range sortedNames(n.Status.Allocatable) {
			q := n.Status.Allocatable[resource]
			if driver == "" || q.IsZero() || sameVendor(resource, map[string]int{driver: 0}) == "" {
				continue
			}
			if nodes++; first == nil {
				first, name = o, resource
			}
			break
		}
	}
	if first == nil {
		return
	}
	p.Report(lint.Diagnostic{At: lint.At(first, fmt.Sprintf("status.allocatable[%q]", name)).Name(),
		Message: fmt.Sprintf("%s offers its GPUs as %s and through driver %s (%s in all): each is counted, and may "+
			"be given out, twice", first.Ref, name, drivers[first.Ref.Name], plural(nodes, "node")),
		Help: "turn one of the two off on these nodes"})
}
