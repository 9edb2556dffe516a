package rules

import (
	"fmt"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var integrationOff = &lint.Rule{
	ID: "GQ113", Name: "integration-off", Severity: lint.Warning,
	Needs: kinds(cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "A workload with a queue label is of a kind that Kueue does not look at",
		Why: "Kueue looks only at the kinds that integrations.frameworks names. A job of another kind starts at once " +
			"and uses devices outside of quota, though its label says otherwise.",
		Bad: "integrations: {frameworks: [batch/job]}\n---\nkind: JobSet\nmetadata:\n  labels: " +
			"{kueue.x-k8s.io/queue-name: gpus}\n",
		Good:  "integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}\n",
		Since: "every version",
		Links: []string{linkJobs},
	},
	Check: func(p *lint.Pass) {
		for _, w := range p.Workloads() {
			if w.Owner == nil || w.State != workload.Unmanaged || w.Owner.Meta.Labels[lint.QueueLabel] == "" {
				continue
			}
			for _, r := range w.Reasons {
				if r.Code == workload.FrameworkDisabled && p.Need(cluster.KueueConfiguration) {
					p.Report(lint.Diagnostic{At: lint.QueueName(w), Message: fmt.Sprintf("Kueue does not look at %s "+
						"objects: it runs outside of quota, in spite of its queue label", w.Owner.Ref.Kind),
						Help: trimStop(r.Text) +
							"; add it and restart the manager",
						Related: []lint.Place{p.Configured("integrations.frameworks").Name()}})
				}
			}
		}
	},
}
