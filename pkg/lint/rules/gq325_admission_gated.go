package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

const (
	gatedBy     = "kueue.x-k8s.io/admission-gated-by"
	gatedByPath = `metadata.annotations["` + gatedBy + `"]`
)

var admissionGated = &lint.Rule{
	ID: "GQ325", Name: "admission-gated", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A workload is kept out of its queue by an annotation",
		Why: "The annotation kueue.x-k8s.io/admission-gated-by names controllers that have to let a workload go " +
			"before Kueue looks at it. In a manifest it waits for ever unless such a controller runs and takes its " +
			"name off.",
		Bad:   "metadata:\n  annotations: {kueue.x-k8s.io/admission-gated-by: example.com/budget}\n",
		Good:  "metadata:\n  annotations: {}\n",
		Since: "Kueue 0.18 (gate AdmissionGatedBy)",
		Links: []string{linkJobs},
	},
	Check: func(p *lint.Pass) {
		for _, w := range p.Workloads() {
			if w.Owner == nil || w.Owner.Meta.Annotations[gatedBy] == "" || !lint.Waits(w) {
				continue
			}
			at, names := lint.At(w.Owner, gatedByPath), w.Owner.Meta.Annotations[gatedBy]
			switch {
			case p.Config.Enabled(release.AdmissionGatedBy):
				p.Report(lint.Diagnostic{At: at, Message: fmt.Sprintf("admission is gated by %s: Kueue does not "+
					"queue it until the annotation is removed", names),
					Help: "check that the controller of that name runs, or remove the annotation"})
			case w.Owner.Ref.GroupKind() != cluster.Workload:
				p.Report(lint.Diagnostic{At: at, Severity: lint.Info, Message: fmt.Sprintf("the annotation does "+
					"nothing: feature gate AdmissionGatedBy is off in Kueue %s", p.Config.Version)})
			}
		}
	},
}
