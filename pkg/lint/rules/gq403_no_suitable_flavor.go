package rules

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var noSuitableFlavor = &lint.Rule{
	ID: "GQ403", Name: "no-suitable-flavor", Severity: lint.Error, Concurrent: true,
	Needs: kinds(cluster.Node),
	Doc: lint.Doc{
		Title: "No flavor of a queue takes the pods, or a flavor stands for no node",
		Why: "A flavor is passed over when the pods do not tolerate its taints, or select nodes by a label it has " +
			"another value for. When no flavor is left the workload waits for ever. A flavor whose labels no node " +
			"has admits workloads whose pods are then never scheduled.",
		Bad: "kind: ResourceFlavor\nmetadata: {name: spot}\nspec:\n  nodeTaints: [{key: spot, value: \"yes\", " +
			"effect: NoSchedule}]   # the only flavor, and the job tolerates nothing\n",
		Good:  "tolerations: [{key: spot, value: \"yes\", effect: NoSchedule}]\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/"},
	},
	Check: func(p *lint.Pass) {
		for _, b := range neverFitting(p) {
			var why []string
			var related []lint.Place
			for _, a := range b.tried {
				if !mismatched(a) {
					continue
				}
				why = append(why, strings.Join(a.Reasons, ", "))
				if o := p.Snapshot.Get(cluster.ResourceFlavor, "", a.Flavor); o != nil {
					related = append(related, lint.At(o, "spec").Name())
				}
			}
			if len(why) == 0 {
				continue
			}
			p.Report(lint.Diagnostic{At: podSpecAt(b), Severity: b.severity, Related: related,
				Message: fmt.Sprintf("no flavor of ClusterQueue %s takes the pods of %s: %s%s", b.queue.Ref.Name,
					b.podSet, strings.Join(why, "; "), b.assuming),
				Help: "add a toleration or change the node selector of the pods, or give the queue another flavor"})
		}
		for o, f := range cluster.All[*kueue.ResourceFlavor](p.Snapshot, cluster.ResourceFlavor) {
			if len(f.Spec.NodeLabels) > 0 && (p.Snapshot.Live || p.Snapshot.List(cluster.Node) != nil) &&
				p.Need(cluster.Node) && !anyNode(p, f.Spec.NodeLabels) {
				p.Report(lint.Diagnostic{At: lint.At(o, "spec.nodeLabels").Name(), Severity: lint.Warning,
					Message: fmt.Sprintf("no node has the labels of ResourceFlavor %s (%s): what is admitted to it "+
						"is never scheduled", f.Name, labels.Set(f.Spec.NodeLabels)),
					Help: "compare nodeLabels with the labels of the nodes"})
			}
		}
	},
}

// podSpecAt is the place that tells which nodes the pods take: their node selector, affinity or tolerations, else the
// job.
func podSpecAt(b blockedSet) lint.Place {
	for i := range b.charge.Workload.PodSets {
		ps := &b.charge.Workload.PodSets[i]
		if ps.Name != b.podSet {
			continue
		}
		t := lint.PodTemplate{Workload: b.charge.Workload, PodSet: ps}
		switch spec := t.Spec(); {
		case len(spec.NodeSelector) > 0:
			return t.At("spec.nodeSelector").Name()
		case spec.Affinity != nil:
			return t.At("spec.affinity").Name()
		case len(spec.Tolerations) > 0:
			return t.At("spec.tolerations").Name()
		}
	}
	return lint.Subject(b.charge.Workload)
}

func anyNode(p *lint.Pass, of map[string]string) bool {
	selector := labels.SelectorFromSet(of)
	for _, n := range cluster.All[*corev1.Node](p.Snapshot, cluster.Node) {
		if selector.Matches(labels.Set(n.Labels)) {
			return true
		}
	}
	return false
}
