package charge

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// queueBlocker reports why the queue of a waiting workload can't take it: the reasons that Kueue
// writes without looking at quota. Kueue looks at devices before it looks at the queue, so a
// refusal found there is the one it writes.
func (r *run) queueBlocker() {
	w := r.w
	if r.stopped || w.Object != nil &&
		apimeta.IsStatusConditionTrue(w.Object.Status.Conditions, kueue.WorkloadQuotaReserved) {
		return
	}
	r.findBlocker()
}

// Blocker reports why the queue of a workload would not take it if it had to wait now, whatever it holds; nil when it
// would, or when the input can't tell.
func (e *Engine) Blocker(w *workload.Workload) *Problem {
	r := &run{e: e, w: w, out: &Charge{}}
	if r.findBlocker(); len(r.out.Problems) == 0 {
		return nil
	}
	return &r.out.Problems[0]
}

func (r *run) findBlocker() {
	w := r.w
	lq, record, ok := cluster.Lookup[*kueue.LocalQueue](r.e.snap, cluster.LocalQueue, w.Namespace, w.Queue)
	state := r.e.queues.LocalQueue(w.Namespace, w.Queue)
	switch {
	case !ok && !r.e.snap.Coverage.HasIn(cluster.LocalQueue, w.Namespace):
		return
	case !ok:
		r.blockUnqueued(message.Of(message.LocalQueueNotFound, w.Queue),
			fmt.Sprintf("there is no LocalQueue %q in namespace %s; name an existing one in the label "+
				"kueue.x-k8s.io/queue-name, or create it", w.Queue, w.Namespace),
			r.ownerEvidence())
	case state.Has(queuestate.Stopped):
		why := state.Cause()
		r.blockUnqueued(message.Of(message.LocalQueueInactive, w.Queue),
			fmt.Sprintf("LocalQueue %s/%s is stopped (spec.stopPolicy)", w.Namespace, w.Queue),
			object(record, why.Path, why.Value))
	case state.Has(queuestate.ClusterQueueNotFound):
		name, why := string(lq.Spec.ClusterQueue), state.Cause()
		r.blockUnqueued(message.Of(message.ClusterQueueNotFound, name),
			fmt.Sprintf("LocalQueue %s points at ClusterQueue %s, which does not exist", lq.Name, name),
			object(record, why.Path, why.Value))
	default:
		r.clusterQueueBlocker(string(lq.Spec.ClusterQueue), state.Of)
	}
}

func (r *run) clusterQueueBlocker(name string, state *queuestate.State) {
	cq, record, ok := cluster.Lookup[*kueue.ClusterQueue](r.e.snap, cluster.ClusterQueue, "", name)
	if !ok {
		return
	}
	if why := state.Cause(); why != nil {
		says := message.Of(message.ClusterQueueInactive, name)
		f := blocking(says, says.Text()+": "+why.Text(), object(record, why.Path, ""))
		f.inactive = why
		r.refuse(f)
		return
	}
	r.namespaceBlocker(cq, record)
}

// blockUnqueued is for a workload that Kueue can't put into a queue. For one that uses devices Kueue writes nothing:
// after charging the devices it fails to queue the workload, before it would write why, and tries again.
func (r *run) blockUnqueued(says message.Message, human string, evidence ...Evidence) {
	f := blocking(says, human, evidence...)
	if g := r.e.gates(); g.dra && r.needsDevicePath(g) {
		f.text = ""
	}
	r.refuse(f)
}

// namespaceBlocker tells that the ClusterQueue takes no workloads of the namespace. A queue without
// namespaceSelector takes none at all.
func (r *run) namespaceBlocker(cq *kueue.ClusterQueue, record *cluster.Object) {
	selector, err := metav1.LabelSelectorAsSelector(cq.Spec.NamespaceSelector)
	if err != nil || selector.Empty() {
		return
	}
	of := labels.Set{}
	if ns := r.e.snap.Get(cluster.Namespace, "", r.w.Namespace); ns != nil {
		of = maps.Clone(labels.Set(ns.Meta.Labels))
	} else if cq.Spec.NamespaceSelector != nil {
		return // its labels are not in the input
	}
	if of == nil {
		of = labels.Set{}
	}
	of[corev1.LabelMetadataName] = r.w.Namespace
	if selector.Matches(of) {
		return
	}
	f := blocking(message.Mismatch(&r.e.cfg.Behavior), fmt.Sprintf("ClusterQueue %s does not take workloads of "+
		"namespace %s (spec.namespaceSelector)", cq.Name, r.w.Namespace),
		object(record, "spec.namespaceSelector", metav1.FormatLabelSelector(cq.Spec.NamespaceSelector)))
	if r.e.queues.ClusterQueue(cq.Name).Verdict == metav1.ConditionUnknown {
		f.others = append(f.others, message.Of(message.ClusterQueueInactive, cq.Name).Text())
	}
	r.refuse(f)
}

func blocking(says message.Message, human string, evidence ...Evidence) refusal {
	evidence = slices.DeleteFunc(evidence, func(e Evidence) bool { return e.Ref.IsZero() })
	return refusal{code: CodeQueueBlocked, text: says.Text(), blocked: says, human: human, evidence: evidence,
		retried: true}
}

// ownerEvidence points at the queue name the workload carries.
func (r *run) ownerEvidence() Evidence {
	if r.w.Owner != nil {
		return object(r.w.Owner, `metadata.labels["kueue.x-k8s.io/queue-name"]`, r.w.Queue)
	}
	return object(r.w.Record, "spec.queueName", r.w.Queue)
}
