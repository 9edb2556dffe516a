package rules

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var sidecarUndercharged = &lint.Rule{
	ID: "GQ308", Name: "sidecar-undercharged", Severity: lint.Warning,
	Needs: kinds(cluster.DeviceClass, cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "The device of a sidecar is not charged in full",
		Why: "For extended resources that a DeviceClass backs, Kueue takes a sidecar for an ordinary init container: " +
			"the larger of init and main containers is charged, not their sum. The pod holds more devices than its " +
			"quota says, and the queue admits more than there are.",
		Bad: "initContainers:\n- {name: proxy, restartPolicy: Always, resources: {requests: {example.com/gpu: 1}, " +
			"limits: {example.com/gpu: 1}}}\ncontainers:\n- {name: main, resources: {requests: {example.com/gpu: 1}, " +
			"limits: {example.com/gpu: 1}}}   # charged 1, not 2\n",
		Good: "# the device of the sidecar through a claim, which is charged for the pod\nresourceClaims: [{name: " +
			"gpu, resourceClaimTemplateName: one-gpu}]\n",
		Since: "Kueue 0.17, to this day",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		if !p.Config.ExtendedResources() || p.Config.Behavior.SidecarsSummedInExtendedResources {
			return
		}
		for t := range p.PodTemplates() {
			if !t.Workload.State.MakesWorkload() {
				continue
			}
			for i := range t.Spec().InitContainers {
				c := &t.Spec().InitContainers[i]
				if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
					continue
				}
				for _, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
					if isExtended(name) {
						checkSidecar(p, t, i, name)
					}
				}
			}
		}
	},
}

func checkSidecar(p *lint.Pass, t lint.PodTemplate, i int, name corev1.ResourceName) {
	class := backedBy(p, name)
	if class == nil {
		return // what no class of the input backs is charged by the ordinary rules, or not known
	}
	charged, main := int64(0), int64(0)
	for c := range containers(t.Spec()) {
		q := c.of.Resources.Requests[name]
		if slices.ContainsFunc(t.Spec().Containers, func(o corev1.Container) bool { return o.Name == c.of.Name }) {
			main += q.Value()
		} else {
			charged = max(charged, q.Value())
		}
	}
	charged = max(charged, main)
	total := resourcehelper.PodRequests(&corev1.Pod{Spec: *t.Spec()}, resourcehelper.PodResourcesOptions{})[name]
	if total.Value() <= charged {
		return
	}
	p.Report(lint.Diagnostic{At: t.At(fmt.Sprintf("spec.initContainers[%d].resources.requests[%q]", i, name)),
		Related: []lint.Place{lint.At(class, "spec.extendedResourceName")},
		Message: fmt.Sprintf("the pod holds %d of %s and is charged %d: Kueue %s does not add a sidecar's device",
			total.Value(), name, charged, p.Config.Version),
		Help: "claim the devices through a ResourceClaimTemplate, or ask for them in a main container"})
}

// backedBy is a mapped DeviceClass that an extended resource name belongs to; nil when there is none.
func backedBy(p *lint.Pass, name corev1.ResourceName) *cluster.Object {
	for o, class := range cluster.All[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass) {
		if n := class.Spec.ExtendedResourceName; n != nil && corev1.ResourceName(*n) == name {
			if _, mapped := p.Config.Lookup(class.Name); mapped {
				return o
			}
		}
	}
	return nil
}
