package rules

import (
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var strictFIFOBlocked = &lint.Rule{
	ID: "GQ411", Name: "strict-fifo-blocked", Severity: lint.Warning, Concurrent: true,
	Doc: lint.Doc{
		Title: "A workload that can never fit stands in a StrictFIFO queue",
		Why: "In a StrictFIFO queue nothing passes the workload at the head. One that can never be admitted blocks " +
			"all that are behind it, though quota is free, until it is removed.",
		Bad:   "kind: ClusterQueue\nspec: {queueingStrategy: StrictFIFO}   # and a job larger than its quota\n",
		Good:  "kind: ClusterQueue\nspec: {queueingStrategy: BestEffortFIFO}\n",
		Since: "every version",
		Links: []string{linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		for _, b := range neverFitting(p) {
			if cq := cluster.As[*kueue.ClusterQueue](b.queue); cq == nil ||
				cq.Spec.QueueingStrategy != kueue.StrictFIFO {
				continue
			}
			job := lint.Subject(b.charge.Workload)
			p.Report(lint.Diagnostic{At: lint.At(b.queue, "spec.queueingStrategy"),
				Related: []lint.Place{job.Saying("it can never fit")},
				Message: fmt.Sprintf("%s can never fit ClusterQueue %s, and blocks what is behind it in a StrictFIFO "+
					"queue", job.Ref, b.queue.Ref.Name),
				Help: "remove the workload, or take BestEffortFIFO"})
		}
	},
}
