package rules

import (
	"cmp"
	"fmt"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

var queueMissing = &lint.Rule{
	ID: "GQ315", Name: "queue-missing", Severity: lint.Error,
	Needs: kinds(cluster.LocalQueue, cluster.ClusterQueue, cluster.KueueConfiguration),
	Doc: lint.Doc{
		Title: "A workload has no queue, or one that does not exist",
		Why: "Kueue suspends a labelled job until the LocalQueue its label names exists in the same namespace and " +
			"leads to a ClusterQueue that exists. A job that asks for devices and has no label runs outside of quota.",
		Bad: "kind: Job\nmetadata:\n  namespace: team-a\n  labels: {kueue.x-k8s.io/queue-name: gpus}   # only in " +
			"team-b\n",
		Good:  "kind: LocalQueue\nmetadata: {name: gpus, namespace: team-a}\nspec: {clusterQueue: cluster-queue}\n",
		Since: "every version",
		Links: []string{"https://kueue.sigs.k8s.io/docs/concepts/local_queue/"},
	},
	Check: func(p *lint.Pass) {
		for _, w := range p.Workloads() {
			if lint.Waits(w) && w.Queue != "" && p.Snapshot.Get(cluster.LocalQueue, w.Namespace, w.Queue) == nil {
				p.NeedIn(w.Namespace, cluster.LocalQueue)
			}
			if w.State == workload.Unmanaged && forgotten(p, w) {
				p.Report(lint.Diagnostic{At: lint.Subject(w), Severity: lint.Warning,
					Message: "it asks for devices but names no queue: it runs outside of quota",
					Help:    fmt.Sprintf("label it with %s: %s", lint.QueueLabel, queueNames(p, w.Namespace))})
			}
		}
		for _, r := range p.Blocked("", "") {
			w := r.Charge.Workload
			lq, _, ok := cluster.Lookup[*kueue.LocalQueue](p.Snapshot, cluster.LocalQueue, w.Namespace, w.Queue)
			if ok && p.Snapshot.Get(cluster.ClusterQueue, "", string(lq.Spec.ClusterQueue)) != nil {
				continue // both exist: something else is wrong
			}
			if w.Queue == "" {
				r.At = lint.Subject(w)
				p.ReportRefusal(r, "it names no LocalQueue, and Kueue suspends it all the same: "+
					"manageJobsWithoutQueueName is on",
					fmt.Sprintf("label it with %s: %s", lint.QueueLabel,
						cmp.Or(queueNames(p, w.Namespace), "the name of a LocalQueue")))
				continue
			}
			help := "create it, or name another queue"
			if names := queueNames(p, w.Namespace); names != "" && !ok {
				help = "the LocalQueues of the namespace are: " + names
			}
			p.ReportRefusal(r, "", help)
		}
	},
}

// forgotten tells that a job without queue asks for devices in a namespace that has queues.
func forgotten(p *lint.Pass, w *workload.Workload) bool {
	noName := false
	for _, r := range w.Reasons {
		noName = noName || r.Code == workload.NoQueueName
	}
	if !noName || queueNames(p, w.Namespace) == "" || !p.Config.Found {
		return false
	}
	mapped := mappedNames(p)
	for _, ps := range w.PodSets {
		spec := &ps.Template.Spec
		for _, c := range spec.ResourceClaims {
			if c.ResourceClaimTemplateName != nil {
				return true
			}
		}
		for c := range containers(spec) {
			for name := range c.of.Resources.Requests {
				if _, ok := mapped[name]; ok {
					return true
				}
			}
		}
	}
	return false
}

func queueNames(p *lint.Pass, namespace string) string {
	var names []string
	for _, o := range p.Snapshot.List(cluster.LocalQueue) {
		if o.Ref.Namespace == namespace {
			names = append(names, o.Ref.Name)
		}
	}
	return strings.Join(names, ", ")
}
