// What keeps a workload out of its queue, or its decision unknown. Mirrors IsAdmissible of pkg/workload and
// pkg/cache/queue/manager.go.

package admission

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// settled reports whether the workload does not wait: it has ended, holds quota, or is not to run. It takes the state
// over.
func (e *Engine) settled(s *scheduler, wl *schedulerWorkload, fresh bool) bool {
	w := wl.charge.Workload
	if wl.charge.Verdict == charge.Unmanaged || !w.State.MakesWorkload() && w.State != workload.Undetermined {
		wl.state = None
		return true
	}
	if !w.Active {
		wl.state = Deactivated
		if !fresh {
			wl.takeCondition(w.Object)
		}
		return true
	}
	if fresh || w.Object == nil {
		return false
	}
	switch {
	case conditionTrue(w.Object, kueue.WorkloadFinished):
		wl.state = Finished
		wl.takeCondition(w.Object)
		return true
	case conditionTrue(w.Object, kueue.WorkloadQuotaReserved) && w.Object.Status.Admission != nil:
		if s.takeReservation(wl, w.Object); wl.held != nil {
			wl.stopped = e.stopped(wl)
			e.keepOut(s, wl, true) // what awaits it should it lose its quota
		}
		return true
	}
	return false
}

// stopped says that a workload loses its quota because a queue is stopped: when it is drained, or before the workload
// is admitted. It is the message that the workload gets; empty when it keeps its quota.
func (e *Engine) stopped(wl *schedulerWorkload) string {
	admitted := conditionTrue(wl.charge.Workload.Object, kueue.WorkloadAdmitted)
	loses := func(kind, name string, p *kueue.StopPolicy) string {
		switch policy := ptr.Deref(p, kueue.None); {
		case admitted && policy == kueue.HoldAndDrain:
			return "The " + kind + " is stopped"
		case !admitted && policy != kueue.None:
			return kind + " " + name + " is stopped"
		}
		return ""
	}
	if lq := cluster.As[*kueue.LocalQueue](e.snap.Get(cluster.LocalQueue, wl.namespace, wl.localQueue)); lq != nil {
		if m := loses(cluster.LocalQueue.Kind, lq.Name, lq.Spec.StopPolicy); m != "" {
			return m
		}
		if wl.queueStopped {
			return "" // a LocalQueue that is stopped is forgotten, and its ClusterQueue is not looked at
		}
	}
	q := wl.held.queue.object
	return loses(cluster.ClusterQueue.Kind, q.Name, q.Spec.StopPolicy)
}

func (s *scheduler) takeReservation(wl *schedulerWorkload, w *kueue.Workload) {
	if !s.hold(wl) {
		wl.state = Unknown // its queue is not there to count against
		wl.takeCondition(w)
		return
	}
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); c != nil &&
		c.Status == metav1.ConditionTrue {
		wl.evicted, wl.evictedBecause = true, c.Message
	}
	wl.admitted = conditionTrue(w, kueue.WorkloadAdmitted)
	recordPresent(wl)
	wl.notReady = wl.admitted && !conditionTrue(w, kueue.WorkloadPodsReady)
	switch {
	case wl.evicted:
		wl.state = Evicted
	case wl.admitted:
		wl.state = Admitted
	default:
		wl.state = QuotaReserved
	}
	wl.takeCondition(w)
}

// takeCondition copies what Kueue has written.
func (wl *schedulerWorkload) takeCondition(w *kueue.Workload) {
	if w == nil {
		return
	}
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		wl.reason, wl.message = c.Reason, c.Message
	}
}

// boost is what an annotation adds to the priority.
func boost(w *kueue.Workload) int64 {
	v, err := strconv.ParseInt(w.Annotations[priorityBoostAnnotation], 10, 32)
	if err != nil {
		return 0
	}
	return v
}

// keepOut finds what keeps a waiting workload out of the queue, and what keeps its decision unknown.
func (e *Engine) keepOut(s *scheduler, wl *schedulerWorkload, fresh bool) {
	w := wl.charge.Workload
	if !fresh {
		wl.takeCondition(w.Object)
	}
	d := e.refusal(s, wl)
	if d == nil {
		d = wl.blocked
	} else if !d.Queue.IsMismatch() {
		wl.namespaceMismatch = false // it never gets into the queue that would not take it
	}
	if d != nil {
		if !fresh && !wl.holdsNothing() && !e.snap.Coverage.HasIn(cluster.Workload, wl.namespace) {
			// A job that runs has been admitted before whatever refuses it now came up, or runs without.
			wl.unknown = &Decision{State: Unknown, Missing: []string{cluster.Workload.Kind}}
			return
		}
		wl.refused = d
		return
	}
	if missing, why := e.missing(s, wl, fresh); len(missing) > 0 || why != "" {
		wl.unknown = &Decision{State: Unknown, Missing: missing, Why: why}
		if !wl.onlyUsageMissing() || !wl.holdsNothing() || s.undecided(attempt, wl, nil) != "" {
			return
		}
		wl.usageAlone = true
	}
	if d := e.held(s, wl, fresh); d != nil {
		wl.refused = d
		return
	}
	wl.invalid = e.requestViolations(wl)
}

// refusal is what the charge engine found: Kueue refuses the workload whatever the quota.
func (e *Engine) refusal(s *scheduler, wl *schedulerWorkload) *Decision {
	c := wl.charge
	if c.Verdict != charge.Inadmissible {
		return nil
	}
	var before []string
	for _, p := range c.Problems {
		if p.Code == charge.CodeOrderDependent || p.Code == charge.CodeConfigurationRefused {
			before = append(before, p.Possible...)
			continue
		}
		d := s.refusedBy(p)
		d.Possible = slices.DeleteFunc(append(before, p.Possible...), func(m string) bool { return m == "" })
		return d
	}
	return nil
}

// refusedBy is the decision that a problem makes.
func (s *scheduler) refusedBy(p charge.Problem) *Decision {
	d := &Decision{
		State:   Inadmissible,
		Reason:  s.granular(reasonMisconfigured, reasonInadmissible),
		Message: p.KueueMessage,
		Why:     p.Message,
	}
	if p.KueueMessage != "" {
		d.Queue = p.Blocked.Code
	}
	switch {
	case p.KueueMessage == "":
		d.Reason = "" // Kueue writes no condition
	case p.Code != charge.CodeQueueBlocked:
	case d.Queue == message.LocalQueueInactive || d.Queue == message.ClusterQueueInactive:
		d.Reason = s.granular(reasonSuspended, reasonInadmissible)
	case d.Queue.IsMismatch():
		d.Reason = s.granular(reasonMisconfigured, reasonPending) // the scheduler says so, not the controller
	}
	return d
}

// missing lists the kinds without which the decision can't be known.
func (e *Engine) missing(s *scheduler, wl *schedulerWorkload, fresh bool) (kinds []string, why string) {
	c := wl.charge
	if c.Verdict == charge.Unknown && !(fresh && onlyClassesMissing(c)) {
		why = "the charge is not known"
		if len(c.Missing) == 0 && len(c.Problems) > 0 {
			why = "the charge is not known: " + c.Problems[0].Message
		}
		return c.Missing, why
	}
	need := map[string]bool{}
	want := func(gk schema.GroupKind) {
		if !e.snap.Coverage.Has(gk) {
			need[gk.Kind] = true
		}
	}
	if wl.queue == nil {
		want(cluster.LocalQueue)
		want(cluster.ClusterQueue)
		if len(need) == 0 {
			return nil, "its queue is not in the input"
		}
		return slices.Sorted(maps.Keys(need)), ""
	}
	want(cluster.ResourceFlavor)
	if !fresh {
		want(cluster.Workload)
	}
	if st := wl.queue.object.Spec.AdmissionChecksStrategy; st != nil && len(st.AdmissionChecks) > 0 {
		want(cluster.AdmissionCheck)
	}
	if e.namespaceMatters(wl) {
		want(cluster.Namespace)
	}
	if c.Workload.PriorityMissing != "" {
		need[c.Workload.PriorityMissing] = true
	}
	if len(need) > 0 {
		return slices.Sorted(maps.Keys(need)), ""
	}
	return nil, s.undecided(attempt, wl, nil)
}

// onlyClassesMissing reports whether the charge is known but for the case that a DeviceClass takes an extended resource
// over, and no DeviceClass is in the input. A replay supposes that there is none, and says so.
func onlyClassesMissing(c *charge.Charge) bool {
	return len(c.Missing) == 1 && c.Missing[0] == cluster.DeviceClass.Kind && len(c.Problems) == 0
}

func (e *Engine) namespaceMatters(wl *schedulerWorkload) bool {
	selector, err := metav1.LabelSelectorAsSelector(wl.queue.object.Spec.NamespaceSelector)
	return err == nil && selector.String() != labels.Everything().String() &&
		selector.String() != labels.Nothing().String() &&
		e.snap.Get(cluster.Namespace, "", wl.namespace) == nil
}

// held is what keeps a workload from being queued although nothing is wrong with it.
func (e *Engine) held(s *scheduler, wl *schedulerWorkload, fresh bool) *Decision {
	w := wl.charge.Workload
	if gates := annotation(w, gatedByAnnotation); gates != "" && s.gate(release.AdmissionGatedBy) {
		return &Decision{
			State:   Pending,
			Reason:  reasonAdmissionGated,
			Message: message.Of(message.AdmissionGated, gates).Text(),
			Why:     fmt.Sprintf("the annotation %s keeps it out of the queue until it is removed", gatedByAnnotation),
		}
	}
	if fresh || w.Object == nil {
		return nil
	}
	reserved := apimeta.FindStatusCondition(w.Object.Status.Conditions, kueue.WorkloadQuotaReserved)
	requeued := apimeta.FindStatusCondition(w.Object.Status.Conditions, kueue.WorkloadRequeued)
	switch {
	case reserved != nil && reserved.Status == metav1.ConditionFalse && reserved.Reason == reasonOnHold:
		return &Decision{
			State:   Pending,
			Reason:  reserved.Reason,
			Message: reserved.Message,
			Why:     "its job is on hold and asks for nothing",
		}
	case conditionTrue(w.Object, kueue.WorkloadWaitingForReplacementPods):
		return &Decision{
			State:   Pending,
			Reason:  wl.reason,
			Message: wl.message,
			Why:     "it waits for replacements of pods that failed",
		}
	case requeued != nil && requeued.Status == metav1.ConditionFalse && requeued.Reason != reasonInadmissible &&
		!reactivated(w, requeued):
		return &Decision{State: Pending, Reason: wl.reason, Message: wl.message,
			Why: fmt.Sprintf("it is not queued again yet (Requeued is False, %s: %s)", requeued.Reason,
				requeued.Message)}
	}
	for _, c := range w.Object.Status.AdmissionChecks {
		if c.State == kueue.CheckStateRetry || c.State == kueue.CheckStateRejected {
			return &Decision{
				State:   Pending,
				Reason:  s.granular(reasonPendingEvaluation, reasonPending),
				Message: message.Of(message.FailedChecks).Text(),
				Why:     fmt.Sprintf("admission check %s is in state %s", c.Name, c.State),
			}
		}
	}
	return nil
}

// reactivated reports whether a workload was kept out of the queue by its deactivation, which is over: Kueue queues it
// again.
func reactivated(w *workload.Workload, requeued *metav1.Condition) bool {
	return w.Active && requeued.Reason == kueue.WorkloadDeactivated
}

// annotation of the Workload, or of its job where there is no Workload yet.
func annotation(w *workload.Workload, name string) string {
	if o := recordOf(w); o != nil {
		return o.Meta.Annotations[name]
	}
	return ""
}
