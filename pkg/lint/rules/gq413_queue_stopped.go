package rules

import (
	"fmt"

	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var queueStopped = &lint.Rule{
	ID: "GQ413", Name: "queue-stopped", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "A queue is stopped, or being deleted",
		Why: "A queue with stopPolicy Hold admits nothing; with HoldAndDrain it evicts what runs as well. In a " +
			"manifest that is applied again and again it is easily left behind after a maintenance. A ClusterQueue " +
			"that is being deleted admits nothing either; it stays as long as workloads hold quota of it.",
		Bad:   "kind: ClusterQueue\nspec: {stopPolicy: HoldAndDrain}\n",
		Good:  "kind: ClusterQueue\nspec: {stopPolicy: None}\n",
		Since: "every version",
		Links: []string{linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		for _, kind := range []string{cluster.ClusterQueue.Kind, cluster.LocalQueue.Kind} {
			for _, r := range p.Blocked(kind, "spec.stopPolicy") {
				p.ReportRefusalAs(lint.Warning, r, "", "")
			}
		}
		for _, r := range p.Closed(queuestate.Terminating) {
			p.ReportRefusalAs(lint.Warning, r, "", "")
		}
		for o, c := range p.EachCause(queuestate.Stopped, queuestate.Terminating) {
			if c.Kind == queuestate.Stopped {
				reportStopped(p, o, kueue.StopPolicy(c.Value))
				continue
			}
			p.Report(lint.Diagnostic{At: lint.At(o, c.Path), Message: fmt.Sprintf("%s is being deleted: it admits "+
				"nothing", o.Ref),
				Help: "it goes once no workload holds quota of it; lead the LocalQueues to another one, and create " +
					"it again if it is to stay"})
		}
		for o, q := range cluster.All[*kueue.LocalQueue](p.Snapshot, cluster.LocalQueue) {
			reportStopped(p, o, ptr.Deref(q.Spec.StopPolicy, kueue.None))
		}
	},
}

// stopped says what a policy does.
var stopped = map[kueue.StopPolicy]string{
	kueue.Hold:         "admits nothing",
	kueue.HoldAndDrain: "admits nothing and evicts what runs",
}

func reportStopped(p *lint.Pass, o *cluster.Object, policy kueue.StopPolicy) {
	if policy == kueue.None {
		return
	}
	p.Report(lint.Diagnostic{At: lint.At(o, "spec.stopPolicy"),
		Message: fmt.Sprintf("%s is stopped (%s): it %s", o.Ref, policy, stopped[policy]),
		Help:    "set stopPolicy to None, or remove the field, when the queue is to work again"})
}
