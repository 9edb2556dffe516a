package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

const admissionGate = "kueue.x-k8s.io/admission"

// podKind is Pod: a Workload for each, or one for a pod group.
var podKind = &kind{
	Kind: jobs.Pod, care: byPod,
	ended: podEnded, refuse: refusePod,
}

// fromPods lists the pods that have no Workload object: alone, or by pod group.
func (f *finder) fromPods(k *kind) {
	groups := map[cluster.Ref][]*cluster.Object{}
	var order []cluster.Ref
	f.each(k, func(k *kind, o *cluster.Object) {
		if f.hasWorkload(o, -1) || cluster.As[*corev1.Pod](o) == nil {
			return
		}
		v := f.decidePod(k, o)
		if name := f.groupOf(o); name != "" && v.state == Managed {
			ref := groupRef(o.Ref.Namespace, name)
			if groups[ref] == nil {
				order = append(order, ref)
			}
			groups[ref] = append(groups[ref], o)
			return
		}
		f.addPod(k, o, v)
	})
	for _, ref := range order {
		f.fromGroup(k, ref, groups[ref])
	}
}

func (f *finder) addPod(k *kind, o *cluster.Object, v verdict) {
	w := newEntry(o)
	w.State, w.Queue, w.Reasons, w.Missing, w.Via = v.state, v.queue, v.reasons, v.missing, v.via
	w.Name = f.nameFor(k, o)
	w.PodSets = []PodSet{podSetOf(o)}
	f.prioritise(k, o, w)
	f.add(w)
}

func podSetOf(o *cluster.Object) PodSet {
	pod := cluster.As[*corev1.Pod](o)
	return PodSet{
		Name: mainPodSet, Count: 1, Source: o,
		Template: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels,
			Annotations: pod.Annotations}, Spec: pod.Spec},
	}
}

// decidePod: the webhook decides at creation, and marks what Kueue shall look after. Stored pods show what it decided.
func (f *finder) decidePod(k *kind, o *cluster.Object) verdict {
	if !f.enabled(k) {
		return f.passedOver(k, o)
	}
	grouped := f.groupOf(o) != ""
	if o.Meta.DeletionTimestamp != nil && !grouped {
		return settled(Unmanaged, reason(BeingDeleted, "It is being deleted.", o, deletionPath)).labelled(o)
	}
	queue, defaulted, known := f.queueOf(o)
	if message := f.refusal(k, o, queue); message != "" {
		return verdict{state: Rejected, queue: queue,
			reasons: []Reason{reason(RefusedByWebhook, "Kueue's webhook refuses it: "+message, o, "")}}
	}
	parent := o.Meta.Annotations[parentAnnotation]
	if parent == jobs.StatefulSet.Framework || parent == jobs.LeaderWorkerSet.Framework {
		return f.podOfSet(o, parent, queue)
	}
	v := verdict{state: Managed, queue: queue}
	var stop bool
	if fresh(o) && parent == "" {
		stop = f.newPod(o, &v, known)
	} else {
		stop = f.markedPod(o, &v)
	}
	if stop {
		return v
	}
	if f.implicitFrameworks[jobs.Pod.Framework] && parent == "" {
		v.state = waitingState(o)
		v.say(reason(PodFrameworkImplicit, "Framework pod is enabled only for the pods of Deployments, StatefulSets "+
			"and LeaderWorkerSets: "+
			"the webhook gates this pod because of its queue, and the controller then passes over it.", o,
			queueLabelPath))
		return v
	}
	f.explainQueue(k, o, &v, defaulted)
	if k.ended(o) && !grouped {
		v.state = Unmanaged
		v.say(reason(HasEnded, "It has ended; Kueue makes no Workload for it any more.", o, "status.phase"))
		return v
	}
	if name := f.prebuilt(o); name != "" && !grouped {
		f.checkPrebuilt(o, name, &v)
	}
	return v
}

// waitingState: a gated pod waits for ever, any other runs free of quota.
func waitingState(o *cluster.Object) State {
	if isGated(o) || fresh(o) {
		return Stuck
	}
	return Unmanaged
}

func isGated(o *cluster.Object) bool {
	pod := cluster.As[*corev1.Pod](o)
	return pod != nil &&
		slices.ContainsFunc(pod.Spec.SchedulingGates,
			func(g corev1.PodSchedulingGate) bool { return g.Name == admissionGate })
}

// newPod asks what the webhook asks of a pod that is being created. It returns true when that settles the matter.
func (f *finder) newPod(o *cluster.Object, v *verdict, queueKnown bool) bool {
	selected := f.namespaceSelected(o.Ref.Namespace)
	if selected == no {
		v.state = Unmanaged
		v.say(reason(NamespaceNotSelected, "Namespace "+o.Ref.Namespace+
			" does not match managedJobsNamespaceSelector ("+f.selector.String()+
			"): Kueue leaves its pods alone, labelled or not.", o, ""))
		return true
	}
	a := f.ancestorOf(o)
	switch {
	case !a.top.IsZero():
		v.state, v.via = Elsewhere, a.top
		v.say(reason(OwnerIsCharged, "It belongs to "+a.top.String()+", which Kueue manages: the Workload of that "+
			"one covers it.", o, ownersPath))
	case a.problem != nil:
		v.state = Stuck
		v.say(*a.problem)
	case v.queue == "" && queueKnown && !f.managesUnlabelled():
		f.noQueue(o, v, Unmanaged)
	case !a.missing.IsZero():
		v.state, v.missing = Undetermined, []string{a.missing.Kind}
		v.say(reason(OwnerNotInInput, "Its owner "+a.missing.String()+
			" is not in the input; if that one is managed, it owns the Workload.", o, ownersPath))
	case selected == unknown:
		*v = f.namespaceMissing(*v, o)
	default:
		return false
	}
	return true
}

// markedPod reads from a stored pod (or one made from a marked template) whether the webhook took it.
func (f *finder) markedPod(o *cluster.Object, v *verdict) bool {
	if o.Meta.Labels[managedLabel] != managedValue {
		f.unmarkedPod(o, v)
		return true
	}
	switch f.namespaceSelected(o.Ref.Namespace) {
	case no:
		v.state = waitingState(o)
		v.say(reason(NamespaceNotSelected, "Namespace "+o.Ref.Namespace+
			" does not match managedJobsNamespaceSelector ("+f.selector.String()+
			"): no Workload is ever made for it.", o, ""))
		return true
	case unknown:
		*v = f.namespaceMissing(*v, o)
		return true
	}
	if v.queue == "" && !f.managesUnlabelled() {
		f.noQueue(o, v, waitingState(o))
		return true
	}
	return false
}

// unmarkedPod says why a stored pod does not carry Kueue's mark.
func (f *finder) unmarkedPod(o *cluster.Object, v *verdict) {
	v.state = Unmanaged
	a := f.ancestorOf(o)
	switch {
	case !a.top.IsZero():
		v.state, v.via = Elsewhere, a.top
		v.say(reason(OwnerIsCharged, "It belongs to "+a.top.String()+", which Kueue manages: the Workload of that "+
			"one covers it.", o, ownersPath))
	case isGated(o):
		v.state = Stuck
		v.say(reason(NotMarkedManaged, "It is gated, but without label "+managedLabel+
			" no controller of Kueue looks at it: nothing ever ungates it.", o, "spec.schedulingGates"))
	case f.namespaceSelected(o.Ref.Namespace) == no:
		v.say(reason(NamespaceNotSelected, "Namespace "+o.Ref.Namespace+
			" does not match managedJobsNamespaceSelector ("+f.selector.String()+").", o, ""))
	case v.queue == "":
		f.noQueue(o, v, Unmanaged)
	default:
		v.say(reason(NotMarkedManaged, "It has a queue label but not label "+managedLabel+
			", which the webhook gives a pod at creation when it takes it on: it runs free of quota.", o,
			queueLabelPath))
	}
}

// podOfSet is a pod of a StatefulSet or LeaderWorkerSet: the set has the Workload.
func (f *finder) podOfSet(o *cluster.Object, parent, queue string) verdict {
	v := verdict{state: Elsewhere, queue: queue}
	if parent == jobs.LeaderWorkerSet.Framework {
		v.via = groupSetRef(o.Ref.Namespace, o.Meta.Labels[groupSetLabel])
	} else if ref := metav1.GetControllerOfNoCopy(o.Meta); ref != nil {
		v.via = cluster.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: o.Ref.Namespace, Name: ref.Name}
	}
	v.say(reason(PartOfPodSet, "It is one of the pods of "+v.via.String()+", whose Workload covers it.", o,
		`metadata.annotations["`+parentAnnotation+`"]`))
	if f.namespaceSelected(o.Ref.Namespace) == no && (isGated(o) || fresh(o)) && !f.cfg.OpenShift {
		v.state = Stuck
		v.say(reason(NamespaceNotSelected, "Namespace "+o.Ref.Namespace+
			" does not match managedJobsNamespaceSelector ("+f.selector.String()+
			"): it is never ungated, though the set's Workload is charged.", o, "spec.schedulingGates"))
	}
	return v
}

func podEnded(o *cluster.Object) bool {
	pod := cluster.As[*corev1.Pod](o)
	return pod != nil && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed)
}

// refusePod checks what the webhook checks of a pod group's marks.
func refusePod(f *finder, o *cluster.Object, _ bool) string {
	name, total := f.groupOf(o), o.Meta.Annotations[groupTotal]
	_, hasTotal := o.Meta.Annotations[groupTotal]
	where := fmt.Sprintf("metadata.labels[%s]", groupName)
	detail := fmt.Sprintf("both the '%s' annotation and the '%s' label should be set", groupTotal, groupName)
	if f.annotationsFirst() && o.Meta.Annotations[groupName] != "" {
		where = fmt.Sprintf("metadata.annotations[%s]", groupName)
		detail = fmt.Sprintf("both the '%s' annotation and the '%s' annotation should be set", groupTotal, groupName)
	}
	switch {
	case name == "" && hasTotal:
		return where + ": Required value: " + detail
	case name == "":
		return ""
	case !hasTotal:
		return fmt.Sprintf("metadata.annotations[%s]: Required value: %s", groupTotal, detail)
	}
	if n, err := strconv.Atoi(total); err != nil || n < 1 {
		return fmt.Sprintf("metadata.annotations[%s]: Invalid value: %q: it must be a number above zero", groupTotal,
			total)
	}
	if prebuilt := f.prebuilt(o); prebuilt != "" && prebuilt != name {
		return "prebuilt workload and pod group should be equal"
	}
	return ""
}

// membersOf are the pods of a group, by name.
func (f *finder) membersOf(namespace, name string) []*cluster.Object {
	if f.podsByGroup == nil {
		f.podsByGroup = map[types.NamespacedName][]*cluster.Object{}
		for _, o := range f.snap.List(cluster.Pod) {
			if group := f.groupOf(o); group != "" {
				key := types.NamespacedName{Namespace: o.Ref.Namespace, Name: group}
				f.podsByGroup[key] = append(f.podsByGroup[key], o)
			}
		}
	}
	members := slices.Clone(f.podsByGroup[types.NamespacedName{Namespace: namespace, Name: name}])
	slices.SortFunc(members, func(a, b *cluster.Object) int { return cmp.Compare(a.Ref.Name, b.Ref.Name) })
	return members
}
