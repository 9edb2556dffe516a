package rules

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var transformedTwice = &lint.Rule{
	ID: "GQ111", Name: "transformed-twice", Severity: lint.Warning,
	Needs: kinds(cluster.DeviceClass),
	Doc: lint.Doc{
		Title: "A transformation takes a resource that a device class backs",
		Why: "Transformations work on the ordinary requests of a pod, before devices are charged. A request for the " +
			"extended resource of a mapped class then costs both: the transformation's outputs and the class's quota " +
			"resource. Devices claimed through templates are never transformed.",
		Bad: "transformations:\n- input: nvidia.com/gpu\n  strategy: Replace\n  outputs: {credits: " +
			"10}\ndeviceClassMappings:\n- name: whole-gpus\n  deviceClassNames: [gpu.nvidia.com]   # " +
			"extendedResourceName: nvidia.com/gpu\n",
		Good:  "transformations: []\ndeviceClassMappings:\n- name: whole-gpus\n  deviceClassNames: [gpu.nvidia.com]\n",
		Since: "Kueue 0.18",
		Links: []string{linkDRA},
	},
	Check: func(p *lint.Pass) {
		res := p.Config.Configuration.Resources
		if res == nil {
			return
		}
		for i, t := range res.Transformations {
			at := p.Configured(fmt.Sprintf("resources.transformations[%d].input", i))
			for _, m := range p.Config.Mappings() {
				if m.Name == t.Input {
					p.Report(lint.Diagnostic{At: at, Message: fmt.Sprintf("%s is charged for devices, which "+
						"transformations do not see: claims are not transformed", t.Input),
						Help: "map the device classes to the resource they are to cost, and remove the " +
							"transformation",
						Related: []lint.Place{p.Configured(m.Path + ".name").Saying("charged for devices here")}})
				}
			}
			for o, class := range cluster.All[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass) {
				n := class.Spec.ExtendedResourceName
				logical, mapped := p.Config.Lookup(class.Name)
				if n == nil || *n != string(t.Input) || !mapped || !p.Config.ExtendedResources() {
					continue
				}
				p.Report(lint.Diagnostic{At: at, Message: fmt.Sprintf("a request for %s is charged twice: by this "+
					"transformation, and as %s through DeviceClass %s", t.Input, logical, class.Name),
					Help: "keep one of the two: the transformation, or the mapping of the class",
					Related: []lint.Place{lint.At(o, "spec.extendedResourceName"),
						mappingOf(p, class.Name).Saying("mapped to " + string(logical))}})
			}
		}
	},
}
