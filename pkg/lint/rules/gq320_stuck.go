package rules

import (
	"fmt"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var stuckWorkload = &lint.Rule{
	ID: "GQ320", Name: "stuck-workload", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "Kueue never makes a Workload for a job, or its webhook refuses it",
		Why: "A job that is suspended for Kueue, and for which no Workload can be made, waits for ever without a " +
			"message: its priority class does not exist, it has more pod sets than a Workload may have, the pods of " +
			"its group disagree.",
		Bad: "kind: Job\nmetadata:\n  labels:\n    kueue.x-k8s.io/queue-name: gpus\n    " +
			"kueue.x-k8s.io/priority-class: high   # no such WorkloadPriorityClass\n",
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
		for o, w := range cluster.All[*kueue.Workload](p.Snapshot, cluster.Workload) {
			checkMinCounts(p, o, w)
		}
	},
}

// checkMinCounts reports a Workload written by hand in which several pod sets may be admitted in part.
func checkMinCounts(p *lint.Pass, o *cluster.Object, w *kueue.Workload) {
	partial := 0
	for i := range w.Spec.PodSets {
		if w.Spec.PodSets[i].MinCount == nil {
			continue
		}
		if partial++; partial == 2 {
			p.Report(lint.Diagnostic{At: lint.At(o, fmt.Sprintf("spec.podSets[%d].minCount", i)),
				Message: "a second pod set has a minCount: Kueue's webhook refuses the Workload",
				Help:    "let one pod set of the Workload be admitted in part, no more"})
		}
	}
}

// stuckReasons are the reasons that keep a job waiting for ever.
var stuckReasons = map[string]bool{
	workload.OwnerNotFound: true, workload.OwnerChainTooLong: true, workload.TooManyPodSets: true,
	workload.NoPodSets:            true,
	workload.PodFrameworkImplicit: true, workload.PriorityClassNotFound: true, workload.GroupQueuesDiffer: true,
	workload.GroupTotalsDiffer: true, workload.WorkloadNameTaken: true, workload.RefusedByWebhook: true,
}
