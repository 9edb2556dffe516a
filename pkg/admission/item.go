package admission

import (
	"encoding/json"
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

// item makes a workload's entry. Fresh says that nothing is reserved or reported yet.
func (e *Engine) item(s *scheduler, c *charge.Charge, fresh bool) *item {
	w := c.Workload
	it := &item{
		charge: c, key: w.Namespace + "/" + w.Name, namespace: w.Namespace, localQueue: w.Queue,
		priority: int64(w.Priority), queue: s.queues[c.ClusterQueue], state: Pending, owned: !w.OwnerRef.IsZero(),
	}
	it.local = e.usageOf(it.queue, w.Namespace, w.Queue, fresh)
	lq := cluster.As[*kueue.LocalQueue](e.snap.Get(cluster.LocalQueue, w.Namespace, w.Queue))
	it.queueStopped = lq != nil && ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None
	if record := recordOf(w); record != nil {
		it.seq, it.created = record.Seq, record.Meta.CreationTimestamp.Time
	}
	if w.Record != nil {
		it.uid = string(w.Record.Meta.UID)
	}
	if s.gate(release.PriorityBoost) && w.Object != nil {
		it.priority += boost(w.Object)
	}
	it.order = it.created
	if !fresh && w.Object != nil {
		it.order = s.queueOrder(w.Object, it.created)
	}
	for i := range c.PodSets {
		it.sets = append(it.sets, s.podSet(w, c, i, fresh))
		it.devices = it.devices || slices.ContainsFunc(c.PodSets[i].Lines, func(l charge.Line) bool {
			return l.Method != charge.Requests && l.Method != charge.Transformation
		})
	}
	it.compared = s.behavior.EquivalenceHashing
	if p := e.engine.Blocker(w); p != nil && w.State.MakesWorkload() {
		it.blocked = s.refusedBy(*p)
		it.turnedAway = it.blocked.Queue.IsMismatch() && it.queue != nil
	}
	if !e.settled(s, it, fresh) {
		e.keepOut(s, it, fresh)
	}
	return it
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
			ps.topology = ps.topology || strings.HasPrefix(name, topologyAnnotations) && strings.HasSuffix(name, "-topology")
		}
	}
	if o := w.Object; o != nil && i < len(o.Spec.PodSets) {
		if tr := o.Spec.PodSets[i].TopologyRequest; tr != nil {
			ps.topology = tr.Unconstrained != nil || tr.Required != nil || tr.Preferred != nil || tr.PodSetSliceRequiredTopology != nil || tr.PodSetSliceSize != nil
			if tr.PodSetGroupName != nil {
				ps.group = *tr.PodSetGroupName
			}
		}
	}
	return ps
}

// shape is equal for workloads that the scheduler can't tell apart; empty when the version does not compare. It is made
// when it is first asked for: most workloads are only looked at for what they hold.
func (it *item) shape() string {
	if it.compared && it.shapeText == "" {
		it.shapeText = it.shapeOf()
	}
	return it.shapeText
}

// shapeOf is equal for workloads that the scheduler treats alike.
func (it *item) shapeOf() string {
	type set struct {
		Name        string
		Count       int32
		MinCount    *int32
		Requests    []string
		Spec        corev1.PodSpec
		Group       string
		Topology    bool
		Annotations map[string]string
	}
	shape := struct {
		Priority int64
		Sets     []set
	}{Priority: it.priority}
	for i := range it.sets {
		ps := &it.sets[i]
		one := set{Name: ps.name, Count: ps.count, MinCount: ps.minCount, Group: ps.group, Topology: ps.topology}
		for _, r := range ps.requests {
			one.Requests = append(one.Requests, string(r.name), quotaString(r.total))
		}
		one.Spec = specShape(ps.spec)
		shape.Sets = append(shape.Sets, one)
	}
	text, err := json.Marshal(shape)
	if err != nil {
		return ""
	}
	return string(text)
}

func quotaString(v int64) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// specShape keeps what of a pod spec the scheduler looks at.
func specShape(in *corev1.PodSpec) corev1.PodSpec {
	if in == nil {
		return corev1.PodSpec{}
	}
	out := corev1.PodSpec{
		NodeSelector: in.NodeSelector, Affinity: in.Affinity, Tolerations: in.Tolerations, RuntimeClassName: in.RuntimeClassName,
		Priority: in.Priority, TopologySpreadConstraints: in.TopologySpreadConstraints, Overhead: in.Overhead, ResourceClaims: in.ResourceClaims,
	}
	containers := func(in []corev1.Container) []corev1.Container {
		var out []corev1.Container
		for i := range in {
			out = append(out, corev1.Container{Resources: corev1.ResourceRequirements{Requests: in[i].Resources.Requests}, Ports: in[i].Ports})
		}
		return out
	}
	out.InitContainers, out.Containers = containers(in.InitContainers), containers(in.Containers)
	if in.Resources != nil {
		out.Resources = &corev1.ResourceRequirements{Requests: in.Resources.Requests}
	}
	return out
}

// hold makes the reservation that a Workload's status records.
func (s *scheduler) hold(it *item) bool {
	o := it.charge.Workload.Object
	admission := o.Status.Admission
	q := s.queues[string(admission.ClusterQueue)]
	if q == nil {
		return false
	}
	r := &reservation{queue: q, usage: quota.Usage{}}
	if c := apimeta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		r.since = c.LastTransitionTime.Time
	}
	counts := map[kueue.PodSetReference]int32{}
	for i := range o.Spec.PodSets {
		counts[o.Spec.PodSets[i].Name] = o.Spec.PodSets[i].Count
	}
	for _, rp := range o.Status.ReclaimablePods {
		if s.gate(release.ReclaimablePods) {
			counts[rp.Name] = max(0, counts[rp.Name]-rp.Count)
		}
	}
	for _, a := range admission.PodSetAssignments {
		ps := PodSet{Name: string(a.Name), Flavors: map[corev1.ResourceName]string{}, Usage: charge.Amounts{}, Count: counts[a.Name]}
		held := ps.Count
		if a.Count != nil {
			held = *a.Count
		}
		ps.Count = min(ps.Count, held)
		for name, f := range a.Flavors {
			v := charge.Units(name, a.ResourceUsage[name])
			if held > 0 && ps.Count < held {
				v = v / int64(held) * int64(ps.Count)
			}
			ps.Flavors[name], ps.Usage[name] = string(f), v
			fr := quota.FlavorResource{Flavor: string(f), Resource: name}
			r.usage[fr] = r.usage[fr].Add(quota.Amount(v))
		}
		r.podSets = append(r.podSets, ps)
	}
	it.reserve(r)
	return true
}
