package rules

import (
	"fmt"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var namespaceNotManaged = &lint.Rule{
	ID: "GQ115", Name: "namespace-not-managed", Severity: lint.Error,
	Needs: kinds(cluster.Namespace),
	Doc: lint.Doc{
		Title: "A workload with a queue label is in a namespace that Kueue does not manage",
		Why: "Upstream, the webhook suspends a labelled job wherever it is, but outside of " +
			"managedJobsNamespaceSelector nothing ever starts it. With the Red Hat build such a job runs at once, " +
			"outside of quota, until its namespace carries the label kueue.openshift.io/managed.",
		Bad: "managedJobsNamespaceSelector: {matchLabels: {kueue: \"on\"}}\n---\nkind: Namespace\nmetadata: {name: " +
			"team-a}\n",
		Good:  "kind: Namespace\nmetadata:\n  name: team-a\n  labels: {kueue: \"on\"}\n",
		Since: "every version",
		Links: []string{linkConfig},
	},
	Check: func(p *lint.Pass) {
		for _, w := range p.Workloads() {
			if w.Owner == nil || w.Owner.Meta.Labels[lint.QueueLabel] == "" {
				continue
			}
			for _, r := range w.Reasons {
				switch r.Code {
				case workload.NamespaceUnknown:
					p.Need(cluster.Namespace)
				case workload.NamespaceNotSelected:
					reportNotManaged(p, w, r)
				}
			}
		}
	},
}

func reportNotManaged(p *lint.Pass, w *workload.Workload, r workload.Reason) {
	severity, help := lint.Error, "label the namespace so that the selector matches it, or remove the queue label"
	if w.State != workload.Stuck {
		severity = lint.Warning
	}
	if p.Config.OpenShift {
		help = fmt.Sprintf("label namespace %s: %s=true", w.Namespace, config.OpenShiftManagedLabel)
	}
	related := []lint.Place{p.Configured("managedJobsNamespaceSelector").Name()}
	ns := p.Snapshot.Get(cluster.Namespace, "", w.Namespace)
	if ns != nil {
		related = append([]lint.Place{lint.At(ns, "metadata").Name()}, related...)
	}
	p.Report(lint.Diagnostic{At: lint.QueueName(w), Severity: severity, Message: asMessage(r.Text), Help: help,
		Related: related, Fix: labelFix(p, ns)})
}

// trimStop takes the full stop off a sentence.
func trimStop(text string) string { return strings.TrimSuffix(text, ".") }
