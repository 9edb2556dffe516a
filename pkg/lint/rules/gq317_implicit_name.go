package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var implicitName = &lint.Rule{
	ID: "GQ317", Name: "implicit-class-name", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A device class is requested by its implicit extended resource name",
		Why: "Kubernetes gives every DeviceClass the name deviceclass.resource.kubernetes.io/CLASS. Kueue resolves " +
			"only the names in extendedResourceName, so the request is charged under the implicit name itself: the " +
			"class's mapping is passed over, and a queue that does not cover the implicit name never admits the " +
			"workload.",
		Bad:   "requests: {deviceclass.resource.kubernetes.io/gpu.nvidia.com: 1}\n",
		Good:  "resourceClaims:\n- {name: gpu, resourceClaimTemplateName: one-gpu}\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		for t := range p.PodTemplates() {
			if !t.Workload.State.MakesWorkload() {
				continue
			}
			for c := range containers(t.Spec()) {
				at := "requests"
				if reported := implicit(c.of.Resources.Requests); len(reported) == 0 {
					at = "limits"
				}
				of := c.of.Resources.Requests
				if at == "limits" {
					of = c.of.Resources.Limits
				}
				for _, name := range implicit(of) {
					class := strings.TrimPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
					p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("%s.resources.%s[%q]", c.path, at, name)).Name(),
						Message: fmt.Sprintf("Kueue does not resolve the implicit name of DeviceClass %s: it is "+
							"charged as %s", class, name),
						Help: "claim the device through a ResourceClaimTemplate, or give the class an " +
							"extendedResourceName and request that"})
				}
			}
		}
	},
}

func implicit(of corev1.ResourceList) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix) {
			out = append(out, name)
		}
	}
	return out
}

// isExtended tells that a name is an extended resource, as Kueue sees it.
func isExtended(name corev1.ResourceName) bool {
	n := string(name)
	return strings.Contains(n, "/") && !strings.HasPrefix(n, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(n, corev1.ResourceHugePagesPrefix)
}
