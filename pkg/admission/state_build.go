// How a workload is built from the input. Mirrors NewInfo and GetQueueOrderTimestamp of pkg/workload.

package admission

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

const (
	priorityBoostAnnotation    = "kueue.x-k8s.io/priority-boost"
	gatedByAnnotation          = "kueue.x-k8s.io/admission-gated-by"
	podSetGroupAnnotation      = "kueue.x-k8s.io/podset-group-name"
	sliceReplacementAnnotation = "kueue.x-k8s.io/workload-slice-replacement-for"
	topologyAnnotations        = "kueue.x-k8s.io/podset-"
)

// newWorkload builds a workload of the scheduler. Fresh says that nothing is reserved or reported yet.
func (e *Engine) newWorkload(s *scheduler, c *charge.Charge, fresh bool) *schedulerWorkload {
	w := c.Workload
	wl := &schedulerWorkload{
		identity: identity{
			charge: c, key: w.Namespace + "/" + w.Name, namespace: w.Namespace, localQueue: w.Queue,
			priority: int64(w.Priority), queue: s.queues[c.ClusterQueue], owned: !w.OwnerRef.IsZero(),
		},
		standing: standing{state: Pending},
	}
	wl.local = e.usageOf(wl.queue, w.Namespace, w.Queue, fresh)
	lq := cluster.As[*kueue.LocalQueue](e.snap.Get(cluster.LocalQueue, w.Namespace, w.Queue))
	wl.queueStopped = lq != nil && ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None
	if record := recordOf(w); record != nil {
		wl.seq, wl.created = record.Seq, record.Meta.CreationTimestamp.Time
	}
	if w.Record != nil {
		wl.uid = string(w.Record.Meta.UID)
	}
	if s.gate(release.PriorityBoost) && w.Object != nil {
		wl.priority += boost(w.Object)
	}
	wl.order = wl.created
	if !fresh && w.Object != nil {
		wl.order = s.queueOrder(w.Object, wl.created)
	}
	for i := range c.PodSets {
		wl.sets = append(wl.sets, s.podSet(w, c, i, fresh))
		wl.devices = wl.devices || slices.ContainsFunc(c.PodSets[i].Lines, func(l charge.Line) bool {
			return l.Method != charge.Requests && l.Method != charge.Transformation
		})
	}
	wl.hashed = s.behavior.EquivalenceHashing
	wl.namesIgnored = s.gate(release.SchedulingEquivalenceHashingIgnorePodSetName)
	if p := e.engine.Blocker(w); p != nil && w.State.MakesWorkload() {
		wl.blocked = s.refusedBy(*p)
		wl.namespaceMismatch = wl.blocked.Queue.IsMismatch() && wl.queue != nil
	}
	if !e.settled(s, wl, fresh) {
		e.keepOut(s, wl, fresh)
	}
	return wl
}

// recordOf is the Workload object where there is one, else the job.
func recordOf(w *workload.Workload) *cluster.Object {
	if w.Record != nil {
		return w.Record
	}
	return w.Owner
}

// queueOrder is the time by which a workload is queued: its creation, or when an admission check or a timeout of its
// pods evicted it.
func (s *scheduler) queueOrder(w *kueue.Workload, created time.Time) time.Time {
	evicted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	if evicted != nil && evicted.Status == metav1.ConditionTrue {
		switch evicted.Reason {
		case kueue.WorkloadEvictedByAdmissionCheck:
			return evicted.LastTransitionTime.Time
		case kueue.WorkloadEvictedByPodsReadyTimeout:
			if s.requeuesByEviction() {
				return evicted.LastTransitionTime.Time
			}
		}
	}
	if !s.gate(release.PrioritySortingWithinCohort) {
		p := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPreempted)
		if p != nil && p.Status == metav1.ConditionTrue && p.Reason == inCohortByBorrowing {
			return p.LastTransitionTime.Add(time.Millisecond)
		}
	}
	return created
}

func (s *scheduler) requeuesByEviction() bool {
	w := s.conf.Configuration.WaitForPodsReady
	if w == nil || w.RequeuingStrategy == nil || w.RequeuingStrategy.Timestamp == nil {
		return true
	}
	return *w.RequeuingStrategy.Timestamp == configapi.EvictionTimestamp
}

func (s *scheduler) podSet(w *workload.Workload, c *charge.Charge, i int, fresh bool) podSet {
	from, ps := &c.PodSets[i], podSet{}
	ps.name, ps.spec = from.Name, from.Spec
	ps.specCount = int32(from.Count)
	ps.count = int32(from.Count)
	if !fresh && s.gate(release.ReclaimablePods) {
		ps.count -= int32(from.Reclaimable)
	}
	sum := from.Totals
	if from.Count != int64(ps.count) {
		sum = from.ScaledTo(int64(ps.count))
	}
	ps.requests = s.ordered(sum)
	ps.requests = slices.DeleteFunc(ps.requests, func(r request) bool { return r.name == corev1.ResourcePods })
	of := &w.PodSets[i]
	ps.minCount = of.MinCount
	if t := of.Template; t != nil {
		ps.group = t.Annotations[podSetGroupAnnotation]
		for name := range t.Annotations {
			ps.topology = ps.topology || strings.HasPrefix(name, topologyAnnotations) &&
				strings.HasSuffix(name, "-topology")
		}
	}
	if o := w.Object; o != nil && i < len(o.Spec.PodSets) {
		if tr := o.Spec.PodSets[i].TopologyRequest; tr != nil {
			ps.topology = tr.Unconstrained != nil || tr.Required != nil || tr.Preferred != nil ||
				tr.PodSetSliceRequiredTopology != nil ||
				tr.PodSetSliceSize != nil
			if tr.PodSetGroupName != nil {
				ps.group = *tr.PodSetGroupName
			}
		}
	}
	return ps
}

// hold makes the reservation that a Workload's status records.
func (s *scheduler) hold(wl *schedulerWorkload) bool {
	o := wl.charge.Workload.Object
	admission := o.Status.Admission
	q := s.queues[string(admission.ClusterQueue)]
	if q == nil {
		return false
	}
	r := &reservation{queue: q, usage: quota.Usage{}}
	if c := apimeta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		r.since = c.LastTransitionTime.Time
	}
	counts := map[string]int32{}
	for i := range o.Spec.PodSets {
		counts[string(o.Spec.PodSets[i].Name)] = o.Spec.PodSets[i].Count
	}
	if s.gate(release.ReclaimablePods) {
		for name, n := range recorded.Reclaimable(o) {
			counts[name] = max(0, counts[name]-n)
		}
	}
	for a := range recorded.PodSets(o) {
		ps := PodSet{Name: a.Name, Flavors: map[corev1.ResourceName]string{}, Usage: charge.Amounts{},
			Count: counts[a.Name]}
		held := ps.Count
		if a.Count != nil {
			held = *a.Count
		}
		ps.Count = min(ps.Count, held)
		for name, f := range a.Flavors {
			v := charge.Units(name, a.Usage[name])
			if held > 0 && ps.Count < held {
				v = v / int64(held) * int64(ps.Count)
			}
			ps.Flavors[name], ps.Usage[name] = string(f), v
			fr := quota.FlavorResource{Flavor: string(f), Resource: name}
			r.usage[fr] = r.usage[fr].Add(quota.Amount(v))
		}
		r.podSets = append(r.podSets, ps)
	}
	wl.reserve(r)
	return true
}
