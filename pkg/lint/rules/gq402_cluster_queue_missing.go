package rules

import (
	"fmt"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var clusterQueueMissing = &lint.Rule{
	ID: "GQ402", Name: "cluster-queue-missing", Severity: lint.Error,
	Needs: kinds(cluster.ClusterQueue),
	Doc: lint.Doc{
		Title: "A LocalQueue leads to a ClusterQueue that does not exist",
		Why: "Workloads of such a LocalQueue wait without a quota to be measured against; Kueue reports the " +
			"ClusterQueue as missing.",
		Bad: "kind: LocalQueue\nmetadata: {name: user-queue, namespace: team-a}\nspec: {clusterQueue: cluster-queu}\n",
		Good: "kind: LocalQueue\nmetadata: {name: user-queue, namespace: team-a}\nspec: {clusterQueue: " +
			"cluster-queue}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/local_queue/"},
	},
	Check: func(p *lint.Pass) {
		for o, lq := range cluster.All[*kueue.LocalQueue](p.Snapshot, cluster.LocalQueue) {
			name := string(lq.Spec.ClusterQueue)
			if p.Snapshot.Get(cluster.ClusterQueue, "", name) != nil || !p.Need(cluster.ClusterQueue) {
				continue
			}
			help := "create the ClusterQueue"
			if names := objectNames(p.Snapshot.List(cluster.ClusterQueue)); names != "" {
				help = "the ClusterQueues are: " + names
			}
			p.Report(lint.Diagnostic{At: lint.At(o, "spec.clusterQueue"),
				Message: fmt.Sprintf("ClusterQueue %s does not exist", name), Help: help})
		}
	},
}

// maxNames bounds the names in a sentence.
const maxNames = 8

func objectNames(objects []*cluster.Object) string {
	var names []string
	for _, o := range objects {
		if len(names) == maxNames {
			return strings.Join(names, ", ") + " and others"
		}
		names = append(names, o.Ref.Name)
	}
	return strings.Join(names, ", ")
}
