package rules

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var limitOnly = &lint.Rule{
	ID: "GQ307", Name: "extended-resource-only-in-limits", Severity: lint.Warning,
	Needs: kinds(cluster.DeviceClass, cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "An extended resource stands only in the limits of a pod template",
		Why: "Kueue decides by the requests of the stored template whether a workload's extended resources go " +
			"through their DeviceClass. A limit without a request does not count there, so the mapping is passed " +
			"over and the device is charged under the raw name, against other quota than the same GPU in requests.",
		Bad:   "resources:\n  limits: {nvidia.com/gpu: 1}\n",
		Good:  "resources:\n  requests: {nvidia.com/gpu: 1}\n  limits: {nvidia.com/gpu: 1}\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		if !p.Config.ExtendedResources() {
			return
		}
		mapped := mappedNames(p)
		for t := range p.PodTemplates() {
			if !t.Workload.State.MakesWorkload() || t.PodSet.Path == "" || requestsAny(t.Spec(), mapped) {
				continue // one request brings the whole workload onto the path of the classes
			}
			for c := range containers(t.Spec()) {
				limits := c.of.Resources.Limits
				for _, name := range slices.Sorted(maps.Keys(limits)) {
					class, backed := mapped[name]
					if !backed || !p.Need(cluster.KueueConfiguration) {
						continue
					}
					logical, _ := p.Config.Lookup(class.Ref.Name)
					p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("%s.resources.limits[%q]", c.path, name)).Name(),
						Message: fmt.Sprintf("%s stands only in limits: it is charged as %s, not as %s, to which its "+
							"class is mapped", name, name, logical),
						Help: "write the same amount under requests, too",
						Related: []lint.Place{lint.At(class, "spec.extendedResourceName"),
							mappingOf(p, class.Ref.Name).Saying("mapped to " + string(logical))}})
				}
			}
		}
	},
}

// mappedNames are the extended resource names whose class the configuration maps to another name, with one such class.
func mappedNames(p *lint.Pass) map[corev1.ResourceName]*cluster.Object {
	out := map[corev1.ResourceName]*cluster.Object{}
	for o, class := range cluster.All[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass) {
		if n := class.Spec.ExtendedResourceName; n != nil && *n != "" {
			name := corev1.ResourceName(*n)
			if logical, ok := p.Config.Lookup(class.Name); ok && logical != name && out[name] == nil {
				out[name] = o
			}
		}
	}
	return out
}

func requestsAny(spec *corev1.PodSpec, names map[corev1.ResourceName]*cluster.Object) bool {
	for c := range containers(spec) {
		for name, q := range c.of.Resources.Requests {
			if _, ok := names[name]; ok && !q.IsZero() {
				return true
			}
		}
	}
	return len(spec.ResourceClaims) > 0
}
