package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var deadQuota = &lint.Rule{
	ID: "GQ103", Name: "dead-quota", Severity: lint.Warning,
	Needs: kinds(cluster.DeviceClass, cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "A ClusterQueue covers a resource that nothing is charged to",
		Why: "When the class behind an extended resource is mapped to another name, requests are charged to that " +
			"name. Quota under the extended name itself is never used, and reads as if it limited something.",
		Bad: "kind: DeviceClass\nmetadata: {name: gpu.example.com}\nspec: {extendedResourceName: " +
			"example.com/gpu}\n---\n" +
			"deviceClassMappings:\n- {name: whole-gpus, deviceClassNames: [gpu.example.com]}\n---\ncoveredResources: " +
			"[example.com/gpu]\n",
		Good:  "coveredResources: [whole-gpus]\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		if !p.Config.ExtendedResources() {
			return
		}
		moved := movedNames(p)
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			for i, g := range cq.Spec.ResourceGroups {
				for j, name := range g.CoveredResources {
					class := moved[name]
					if class == nil || !p.Need(cluster.KueueConfiguration) {
						continue
					}
					logical, _ := p.Config.Lookup(class.Ref.Name)
					p.Report(lint.Diagnostic{At: lint.At(o,
						fmt.Sprintf("spec.resourceGroups[%d].coveredResources[%d]", i, j)),
						Message: fmt.Sprintf("requests for %s are charged to %s: quota for %s is never used", name,
							logical, name),
						Help: fmt.Sprintf("cover %s instead", logical),
						Related: []lint.Place{lint.At(class, "spec.extendedResourceName"),
							mappingOf(p, class.Ref.Name).Saying("mapped to " + string(logical))}})
				}
			}
		}
	},
}

// movedNames are the extended resource names all of whose classes are mapped to other names, and to which no mapping or
// transformation charges, with one class of each.
func movedNames(p *lint.Pass) map[corev1.ResourceName]*cluster.Object {
	out := mappedNames(p)
	for _, class := range cluster.All[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass) {
		if n := class.Spec.ExtendedResourceName; n != nil {
			if logical, ok := p.Config.Lookup(class.Name); !ok || string(logical) == *n {
				delete(out, corev1.ResourceName(*n))
			}
		}
	}
	for _, m := range p.Config.Mappings() {
		delete(out, m.Name)
	}
	if r := p.Config.Configuration.Resources; r != nil {
		for _, t := range r.Transformations {
			for name := range t.Outputs {
				delete(out, name)
			}
		}
	}
	return out
}
