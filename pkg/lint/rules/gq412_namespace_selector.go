package rules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var namespaceSelector = &lint.Rule{
	ID: "GQ412", Name: "namespace-selector", Severity: lint.Warning,
	Needs: kinds(cluster.Namespace),
	Doc: lint.Doc{
		Title: "A ClusterQueue takes workloads of no namespace",
		Why: "A ClusterQueue without namespaceSelector takes nothing: a missing selector matches no namespace, while " +
			"an empty one ({}) matches all. Workloads sent to it stay inadmissible, whatever quota it has.",
		Bad:   "kind: ClusterQueue\nspec:\n  resourceGroups: [...]\n",
		Good:  "kind: ClusterQueue\nspec:\n  namespaceSelector: {}\n  resourceGroups: [...]\n",
		Since: "every version",
		Links: []string{linkClusterQueue},
	},
	Check: func(p *lint.Pass) {
		for _, r := range p.Blocked(cluster.ClusterQueue.Kind, "spec.namespaceSelector") {
			p.ReportRefusal(r, "", "widen namespaceSelector of the ClusterQueue ({} takes every namespace), or label "+
				"the namespace")
		}
		for o, cq := range cluster.All[*kueue.ClusterQueue](p.Snapshot, cluster.ClusterQueue) {
			if cq.Spec.NamespaceSelector == nil {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec").Name(),
					Message: fmt.Sprintf("ClusterQueue %s has no namespaceSelector: it takes workloads of no namespace",
						cq.Name),
					Help: "write namespaceSelector: {} to take those of every namespace"})
				continue
			}
			selector, err := metav1.LabelSelectorAsSelector(cq.Spec.NamespaceSelector)
			if err != nil || selector.Empty() || !p.Need(cluster.Namespace) || matchesAny(p, selector) {
				continue
			}
			p.Report(lint.Diagnostic{At: lint.At(o, "spec.namespaceSelector").Name(),
				Message: fmt.Sprintf("namespaceSelector of ClusterQueue %s (%s) matches no namespace of the input",
					cq.Name, selector),
				Help: "label the namespaces whose workloads it is for, or correct the selector"})
		}
	},
}

func matchesAny(p *lint.Pass, selector labels.Selector) bool {
	for _, ns := range p.Snapshot.List(cluster.Namespace) {
		of := labels.Set{}
		for k, v := range ns.Meta.Labels {
			of[k] = v
		}
		of[corev1.LabelMetadataName] = ns.Ref.Name
		if selector.Matches(of) {
			return true
		}
	}
	// A namespace that objects are in exists, though its labels are not known.
	for _, lq := range p.Snapshot.List(cluster.LocalQueue) {
		if p.Snapshot.Get(cluster.Namespace, "", lq.Ref.Namespace) == nil {
			return true
		}
	}
	return false
}
