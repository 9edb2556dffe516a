package charge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// queueBlocker reports why the queue of a waiting workload can't take it: the reasons that Kueue
// writes without looking at quota. Kueue looks at devices before it looks at the queue, so a
// refusal found there is the one it writes.
func (r *run) queueBlocker() {
	w := r.w
	if r.stopped || w.Object != nil && apimeta.IsStatusConditionTrue(w.Object.Status.Conditions, kueue.WorkloadQuotaReserved) {
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
	switch {
	case !ok && !r.e.snap.Coverage.HasIn(cluster.LocalQueue, w.Namespace):
		return
	case !ok:
		r.blockUnqueued("LocalQueue "+w.Queue+" doesn't exist",
			fmt.Sprintf("there is no LocalQueue %q in namespace %s; name an existing one in the label kueue.x-k8s.io/queue-name, or create it", w.Queue, w.Namespace),
			r.ownerEvidence())
	case ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None:
		r.blockUnqueued("LocalQueue "+w.Queue+" is inactive", fmt.Sprintf("LocalQueue %s/%s is stopped (spec.stopPolicy)", w.Namespace, w.Queue),
			object(record, "spec.stopPolicy", string(*lq.Spec.StopPolicy)))
	default:
		r.clusterQueueBlocker(string(lq.Spec.ClusterQueue), record)
	}
}

func (r *run) clusterQueueBlocker(name string, lq *cluster.Object) {
	cq, record, ok := cluster.Lookup[*kueue.ClusterQueue](r.e.snap, cluster.ClusterQueue, "", name)
	if !ok {
		if field, value := LacksClusterQueue(r.e.snap, lq); field != "" {
			r.blockUnqueued("ClusterQueue "+name+" doesn't exist", fmt.Sprintf("LocalQueue %s points at ClusterQueue %s, which does not exist", lq.Ref.Name, name),
				object(lq, field, value))
		}
		return
	}
	if why := r.e.inactive(cq, record); why.text != "" {
		r.block("ClusterQueue "+name+" is inactive", "ClusterQueue "+name+" is inactive: "+why.text, object(record, why.path, ""))
		return
	}
	r.namespaceBlocker(cq, record)
}

// LacksClusterQueue names the field of a LocalQueue that shows that its ClusterQueue, which is not in the input, does not
// exist, with what it says: the reference, where the input holds ClusterQueues, or else what Kueue has written about it. It
// is empty when the input can't tell.
func LacksClusterQueue(snap *cluster.Snapshot, record *cluster.Object) (field, value string) {
	lq := cluster.As[*kueue.LocalQueue](record)
	if lq == nil {
		return "", ""
	}
	if snap.Coverage.Has(cluster.ClusterQueue) {
		return "spec.clusterQueue", string(lq.Spec.ClusterQueue)
	}
	active := apimeta.FindStatusCondition(lq.Status.Conditions, kueue.LocalQueueActive)
	if record.Laid || active == nil || active.Status != metav1.ConditionFalse || active.Reason != "ClusterQueueDoesNotExist" {
		return "", ""
	}
	return "status.conditions", active.Type + "=" + string(active.Status) + " (" + active.Reason + ")"
}

// blockUnqueued is for a workload that Kueue can't put into a queue. For one that uses devices Kueue writes nothing: after
// charging the devices it fails to queue the workload, before it would write why, and tries again.
func (r *run) blockUnqueued(text, human string, evidence ...Evidence) {
	f := blocking(text, human, evidence...)
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
	text := "Workload namespace doesn't match ClusterQueue selector"
	if r.e.cfg.Behavior.NamespaceMsgLower {
		text = "workload namespace doesn't match ClusterQueue selector"
	}
	f := blocking(text, fmt.Sprintf("ClusterQueue %s does not take workloads of namespace %s (spec.namespaceSelector)", cq.Name, r.w.Namespace),
		object(record, "spec.namespaceSelector", metav1.FormatLabelSelector(cq.Spec.NamespaceSelector)))
	if r.e.mayBeInactive(cq, record) {
		f.others = append(f.others, "ClusterQueue "+cq.Name+" is inactive")
	}
	r.refuse(f)
}

// mayBeInactive tells that the input lacks what shows whether a queue is active that nothing is known against.
func (e *Engine) mayBeInactive(cq *kueue.ClusterQueue, record *cluster.Object) bool {
	if !record.Laid && apimeta.IsStatusConditionTrue(cq.Status.Conditions, kueue.ClusterQueueActive) {
		return false
	}
	checks := cq.Spec.AdmissionChecksStrategy
	return len(cq.Spec.ResourceGroups) > 0 && !e.snap.Coverage.Has(cluster.ResourceFlavor) ||
		checks != nil && len(checks.AdmissionChecks) > 0 && !e.snap.Coverage.Has(cluster.AdmissionCheck)
}

// inactivity is why a ClusterQueue takes no workloads, and the field of it that is to blame.
type inactivity struct{ text, path string }

// Inactive says why a ClusterQueue takes no workloads; empty when it does, when it does not exist, or when the input
// can't tell.
func (e *Engine) Inactive(queue string) string {
	cq, record, ok := cluster.Lookup[*kueue.ClusterQueue](e.snap, cluster.ClusterQueue, "", queue)
	if !ok {
		return ""
	}
	return e.inactive(cq, record).text
}

func (e *Engine) inactive(cq *kueue.ClusterQueue, record *cluster.Object) inactivity {
	why, known := e.blocked[record.Ref.Name]
	if !known {
		why = e.whyInactive(cq, record)
		e.blocked[record.Ref.Name] = why
	}
	return why
}

// whyInactive says why a ClusterQueue takes no workloads; empty when it does, or when the input can't tell.
func (e *Engine) whyInactive(cq *kueue.ClusterQueue, record *cluster.Object) inactivity {
	if p := ptr.Deref(cq.Spec.StopPolicy, kueue.None); p != kueue.None {
		return inactivity{"it is stopped (spec.stopPolicy " + string(p) + ")", "spec.stopPolicy"}
	}
	if c := apimeta.FindStatusCondition(cq.Status.Conditions, kueue.ClusterQueueActive); c != nil && c.Status == metav1.ConditionFalse && !record.Laid && !e.outOfDate(c) {
		return inactivity{"it says so itself (" + c.Reason + ": " + c.Message + ")", "status.conditions"}
	}
	if e.snap.Coverage.Has(cluster.ResourceFlavor) {
		for i, g := range cq.Spec.ResourceGroups {
			for j, f := range g.Flavors {
				path := fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].name", i, j)
				if e.snap.Get(cluster.ResourceFlavor, "", string(f.Name)) == nil {
					return inactivity{"ResourceFlavor " + string(f.Name) + " does not exist", path}
				}
				if name := e.missingTopology(string(f.Name)); name != "" {
					return inactivity{"Topology " + name + " of ResourceFlavor " + string(f.Name) + " does not exist", path}
				}
			}
		}
	}
	if cohort := e.cohortCycle(string(cq.Spec.CohortName)); cohort != "" {
		return inactivity{"Cohort " + cohort + " is its own ancestor (spec.parentName)", "spec.cohortName"}
	}
	if s := cq.Spec.AdmissionChecksStrategy; s != nil {
		for i, c := range s.AdmissionChecks {
			if why := e.checkInactive(string(c.Name)); why != "" {
				return inactivity{why, fmt.Sprintf("spec.admissionChecksStrategy.admissionChecks[%d].name", i)}
			}
		}
	}
	return inactivity{}
}

// shown are the reasons of inactivity that other objects show, with the kind that has to be in the input.
var shown = map[string]schema.GroupKind{
	kueue.ClusterQueueActiveReasonStopped: cluster.ClusterQueue, kueue.ClusterQueueActiveReasonFlavorNotFound: cluster.ResourceFlavor,
	kueue.ClusterQueueActiveReasonAdmissionCheckNotFound: cluster.AdmissionCheck, kueue.ClusterQueueActiveReasonAdmissionCheckInactive: cluster.AdmissionCheck,
	"Ready": cluster.Cohort, // of a queue below a cycle of cohorts
}

// outOfDate tells that a queue's report may be of the cluster as it is where one is looked at as it might be, and that
// the objects show all that the report is about. A message that gives several reasons is left standing.
func (e *Engine) outOfDate(c *metav1.Condition) bool {
	kind, known := shown[c.Reason]
	return e.snap.Supposed && known && e.snap.Coverage.Has(kind) && !strings.Contains(c.Message, ", ")
}

// missingTopology names the Topology that a flavor is placed by and that does not exist.
func (e *Engine) missingTopology(flavor string) string {
	f, _, ok := cluster.Lookup[*kueue.ResourceFlavor](e.snap, cluster.ResourceFlavor, "", flavor)
	if !ok || f.Spec.TopologyName == nil || !e.cfg.Enabled(release.TopologyAwareScheduling) || !e.snap.Coverage.Has(cluster.Topology) {
		return ""
	}
	if name := string(*f.Spec.TopologyName); e.snap.Get(cluster.Topology, "", name) == nil {
		return name
	}
	return ""
}

// cohortCycle names a cohort above the queue that is its own ancestor; empty when there is none. The
// queues below such a cycle take no workloads, though their Active condition does not say so.
func (e *Engine) cohortCycle(name string) string {
	seen := map[string]bool{}
	for name != "" {
		if seen[name] {
			return name
		}
		seen[name] = true
		c, _, ok := cluster.Lookup[*kueue.Cohort](e.snap, cluster.Cohort, "", name)
		if !ok {
			return ""
		}
		name = string(c.Spec.ParentName)
	}
	return ""
}

func (e *Engine) checkInactive(name string) string {
	check, record, ok := cluster.Lookup[*kueue.AdmissionCheck](e.snap, cluster.AdmissionCheck, "", name)
	switch {
	case !ok && e.snap.Coverage.Has(cluster.AdmissionCheck):
		return "AdmissionCheck " + name + " does not exist"
	case ok && stored(record) && !apimeta.IsStatusConditionTrue(check.Status.Conditions, kueue.AdmissionCheckActive):
		return "AdmissionCheck " + name + " is not active"
	}
	return ""
}

// stored tells that an object comes from an API server, so that controllers have written its status.
func stored(o *cluster.Object) bool { return !o.Laid && o.Meta.UID != "" }

func (r *run) block(text, human string, evidence ...Evidence) {
	r.refuse(blocking(text, human, evidence...))
}

func blocking(text, human string, evidence ...Evidence) refusal {
	evidence = slices.DeleteFunc(evidence, func(e Evidence) bool { return e.Ref.IsZero() })
	return refusal{code: CodeQueueBlocked, text: text, blocked: text, human: human, evidence: evidence, retried: true}
}

// ownerEvidence points at the queue name the workload carries.
func (r *run) ownerEvidence() Evidence {
	if r.w.Owner != nil {
		return object(r.w.Owner, `metadata.labels["kueue.x-k8s.io/queue-name"]`, r.w.Queue)
	}
	return object(r.w.Record, "spec.queueName", r.w.Queue)
}
