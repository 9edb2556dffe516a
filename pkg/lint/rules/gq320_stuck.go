package rules

import (
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var stuckWorkload = &lint.Rule{
	ID: "GQ320", Name: "stuck-workload", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "Kueue never makes a Workload for a job, or its webhook refuses it",
		Why: "A job that is suspended for Kueue, and for which no Workload can be made, waits for ever without a message: its " +
			"priority class does not exist, it has more pod sets than a Workload may have, the pods of its group disagree.",
		Bad:   "kind: Job\nmetadata:\n  labels:\n    kueue.x-k8s.io/queue-name: gpus\n    kueue.x-k8s.io/priority-class: high   # no such WorkloadPriorityClass\n",
		Good:  "kind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 1000\n",
		Since: "every version",
		Links: []string{linkJobs},
	},
	Check: func(p *lint.Pass) {
		for _, w := range p.Workloads() {
			if w.State != workload.Stuck && w.State != workload.Rejected {
				continue
			}
			for _, r := range w.Reasons {
				if r.Code == workload.NamespaceNotSelected || !stuckReasons[r.Code] {
					continue
				}
				at := lint.Subject(w)
				if w.Owner != nil && r.Object == w.Owner.Ref && strings.HasPrefix(r.Path, "metadata.labels[") {
					at = lint.At(w.Owner, r.Path)
				}
				p.Report(lint.Diagnostic{At: at, Message: asMessage(r.Text)})
			}
		}
	},
}

// stuckReasons are the reasons that keep a job waiting for ever.
var stuckReasons = map[string]bool{
	workload.OwnerNotFound: true, workload.OwnerChainTooLong: true, workload.TooManyPodSets: true, workload.NoPodSets: true,
	workload.PodFrameworkImplicit: true, workload.PriorityClassNotFound: true, workload.GroupQueuesDiffer: true,
	workload.GroupTotalsDiffer: true, workload.WorkloadNameTaken: true, workload.RefusedByWebhook: true,
}
