package workload

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

const (
	queueLabel = "kueue.x-k8s.io/queue-name"
)

// verdict is the answer to: who makes a Workload for this object, if anyone?
type verdict struct {
	state   State
	queue   string
	reasons []Reason
	missing []string
	via     cluster.Ref
}

func (v *verdict) say(r Reason) { v.reasons = append(v.reasons, r) }

func settled(state State, r Reason) verdict { return verdict{state: state, reasons: []Reason{r}} }

// labelled gives a verdict the queue of the object's label, which Kueue does not look at in this case.
func (v verdict) labelled(o *cluster.Object) verdict {
	v.queue = o.Meta.Labels[queueLabel]
	return v
}

// decide applies Kueue's rules to one object that has no Workload object, in the order Kueue asks.
// Pods have rules of their own (decidePod).
func (f *finder) decide(k *kind, o *cluster.Object) verdict {
	if !f.enabled(k) {
		return f.passedOver(k, o)
	}
	if o.Meta.DeletionTimestamp != nil {
		return settled(Unmanaged, reason(BeingDeleted, "It is being deleted.", o, deletionPath)).labelled(o)
	}
	queue, defaulted, known := f.queueOf(o)
	if k.skip != nil {
		if v := k.skip(f, o); v != nil {
			v.queue = queue
			return *v
		}
	}
	if message := f.refusal(k, o, queue); message != "" {
		return verdict{state: Rejected, queue: queue,
			reasons: []Reason{reason(RefusedByWebhook, "Kueue's webhook refuses it: "+message, o, "")}}
	}
	a := f.ancestorOf(o)
	v := verdict{state: Managed, queue: queue}
	switch {
	case !a.top.IsZero():
		v.state, v.via = Elsewhere, a.top
		v.say(reason(OwnerIsCharged, "It belongs to "+a.top.String()+", which Kueue manages: the Workload of that "+
			"one covers its pods.", o, ownersPath))
		return v
	case a.problem != nil:
		v.state = Stuck
		v.say(*a.problem)
		return v
	case !known:
		return f.namespaceMissing(v, o)
	case queue == "" && !f.managesUnlabelled():
		f.noQueue(o, &v, Unmanaged)
		return v
	case !a.missing.IsZero():
		v.state, v.missing = Undetermined, []string{a.missing.Kind}
		v.say(reason(OwnerNotInInput, "Its owner "+a.missing.String()+
			" is not in the input; if that one is managed, it owns the Workload.", o, ownersPath))
		return v
	}
	if stop := f.checkNamespace(k, o, &v); stop {
		return v
	}
	f.explainQueue(k, o, &v, defaulted)
	f.checkProgress(k, o, &v)
	return v
}

// passedOver is an object of a kind that Kueue does not look at. Its pods are charged all the same where it belongs to
// one that Kueue manages.
func (f *finder) passedOver(k *kind, o *cluster.Object) verdict {
	v := verdict{state: Unmanaged}.labelled(o)
	if a := f.ancestorOf(o); !a.top.IsZero() {
		v.state, v.via = Elsewhere, a.top
		v.say(reason(OwnerIsCharged, "It belongs to "+a.top.String()+", which Kueue manages: the Workload of that "+
			"one covers it.", o, ownersPath))
		return v
	}
	v.say(f.frameworkDisabled(k, o))
	return v
}

func (f *finder) frameworkDisabled(k *kind, o *cluster.Object) Reason {
	if k.Gate != "" && !f.cfg.Enabled(k.Gate) {
		return reason(FrameworkDisabled, fmt.Sprintf("Kueue looks at %s objects only with feature gate %s, which is "+
			"off.", k.GroupKind.Kind, k.Gate), o, "")
	}
	return reason(FrameworkDisabled, fmt.Sprintf("Framework %s is not in the configuration's "+
		"integrations.frameworks: Kueue does not look at %s objects.",
		k.Framework, k.GroupKind.Kind), o, "")
}

func (f *finder) noQueue(o *cluster.Object, v *verdict, state State) {
	text := "It has no label " + queueLabel + " and Kueue manages only labelled jobs (manageJobsWithoutQueueName is " +
		"false)."
	if f.snap.Get(cluster.LocalQueue, o.Ref.Namespace, defaultQueue) != nil {
		text += " LocalQueue " + defaultQueue + " of its namespace gives the label only to objects that are created " +
			"after it."
	}
	v.state = state
	v.say(reason(NoQueueName, text, o, queueLabelPath))
}

func (f *finder) namespaceMissing(v verdict, o *cluster.Object) verdict {
	v.state, v.missing = Undetermined, append(v.missing, cluster.Namespace.Kind)
	v.say(reason(NamespaceUnknown, "Namespace "+o.Ref.Namespace+
		" is not in the input, and its labels decide (managedJobsNamespaceSelector: "+f.selector.String()+").", o, ""))
	return v
}

// checkNamespace applies managedJobsNamespaceSelector. It returns true when that settles the matter.
func (f *finder) checkNamespace(k *kind, o *cluster.Object, v *verdict) bool {
	if v.queue != "" && k.care == bySet {
		if f.namespaceSelected(o.Ref.Namespace) != yes {
			v.say(reason(SelectorNotAsked, "Kueue manages a labelled "+k.GroupKind.Kind+
				" in any namespace; managedJobsNamespaceSelector is not asked.", o, queueLabelPath))
		}
		return false
	}
	if v.queue != "" && k.care == byJob && !f.cfg.Behavior.SelectorGateLocked &&
		!f.cfg.Enabled(release.ManagedJobsNamespaceSelectorAlwaysRespected) {
		return false
	}
	switch f.namespaceSelected(o.Ref.Namespace) {
	case yes:
		return false
	case unknown:
		*v = f.namespaceMissing(*v, o)
		return true
	}
	text := "Namespace " + o.Ref.Namespace + " does not match managedJobsNamespaceSelector (" + f.selector.String() +
		")"
	v.state = Unmanaged
	switch {
	case v.queue == "" || f.cfg.OpenShift:
		v.say(reason(NamespaceNotSelected, text+": Kueue leaves it alone.", o, ""))
	case k.care == byPods:
		v.state = Stuck
		v.say(reason(NamespaceNotSelected, text+": its pods are gated because of the queue label, and no Workload is "+
			"ever made for them.", o, queueLabelPath))
	case fresh(o) || k.suspended == nil || k.suspended(o):
		v.state = Stuck
		v.say(reason(NamespaceNotSelected, text+": it is suspended at creation because of its queue label, and no "+
			"Workload is ever made.", o, queueLabelPath))
	default:
		v.say(reason(NamespaceNotSelected, text+": Kueue leaves it alone, in spite of its queue label.", o,
			queueLabelPath))
	}
	return true
}

// explainQueue tells where the queue name comes from when that is not plain.
func (f *finder) explainQueue(k *kind, o *cluster.Object, v *verdict, defaulted bool) {
	switch {
	case defaulted:
		v.say(reason(QueueDefaulted, "It has no queue label; the webhook sets "+defaultQueue+
			", because the namespace has a LocalQueue of that name.", o, queueLabelPath))
	case v.queue == "":
		v.say(reason(QueueLeftEmpty, "It has no queue label; manageJobsWithoutQueueName makes Kueue hold it, in no "+
			"queue at all.", o, queueLabelPath))
	}
	if !f.cfg.Found {
		v.say(reason(ConfigurationAssumed, "Kueue's configuration is not in the input; framework "+k.Framework+
			" is assumed to be enabled.", o, ""))
	}
}

// checkProgress looks for what keeps Kueue from making the Workload now.
func (f *finder) checkProgress(k *kind, o *cluster.Object, v *verdict) {
	if k.ended != nil && k.ended(o) {
		v.state = Unmanaged
		v.say(reason(HasEnded, "It has ended; Kueue makes no Workload for it any more.", o, statusPath))
		return
	}
	if name := f.prebuilt(o); name != "" && k.care != bySet {
		f.checkPrebuilt(o, name, v)
	}
	if v.state == Managed && k.waits != nil {
		if r := k.waits(f, o); r != nil {
			v.state = Incomplete
			v.say(*r)
		}
	}
}

// checkPrebuilt: a job that names a prebuilt Workload waits until that Workload exists and is nobody else's.
func (f *finder) checkPrebuilt(o *cluster.Object, name string, v *verdict) {
	switch {
	case f.snap.Get(cluster.Workload, o.Ref.Namespace, name) != nil:
		v.state = Incomplete
		v.say(reason(PrebuiltWorkloadMissing, "The Workload "+name+" it says is made for it belongs to another job.", o,
			""))
	case !f.snap.Coverage.HasIn(cluster.Workload, o.Ref.Namespace):
		v.state, v.missing = Undetermined, append(v.missing, cluster.Workload.Kind)
		v.say(reason(PrebuiltWorkloadMissing, "It names the prebuilt Workload "+name+
			", and no Workloads are in the input.", o, ""))
	default:
		v.state = Incomplete
		v.say(reason(PrebuiltWorkloadMissing, "It names the prebuilt Workload "+name+", which does not exist.", o, ""))
	}
}

// checkPodSets: the API server refuses a Workload with more pod sets than the version allows, or none.
func (f *finder) checkPodSets(w *Workload) {
	if limit := f.cfg.Behavior.MaxPodSets; limit > 0 && len(w.PodSets) > limit {
		w.State = Stuck
		w.Reasons = append(w.Reasons, reason(TooManyPodSets,
			fmt.Sprintf("It has %d pod sets and a Workload may have %d: none can be made.", len(w.PodSets),
				limit), w.Owner, ""))
	}
	if len(w.PodSets) == 0 {
		w.State = Stuck
		w.Reasons = append(w.Reasons, reason(NoPodSets, "It has no pod set, and a Workload must have one: none can "+
			"be made.", w.Owner, ""))
	}
	for i := range w.PodSets {
		if why := f.refusedResources(&w.PodSets[i]); why != nil {
			w.State = Stuck
			w.Reasons = append(w.Reasons, *why)
			return
		}
	}
}

// refusal is the webhook's objection to creating the object, or "".
func (f *finder) refusal(k *kind, o *cluster.Object, queue string) string {
	if !fresh(o) || f.webhooksSee(o.Ref.Namespace) != yes {
		return ""
	}
	if q := o.Meta.Labels[queueLabel]; q != "" {
		if errs := validation.IsDNS1123Subdomain(q); len(errs) > 0 {
			return fmt.Sprintf("metadata.labels[%s]: Invalid value: %q: %s", queueLabel, q, errs[0])
		}
	}
	if k.refuse == nil {
		return ""
	}
	return k.refuse(f, o, queue != "" || f.managesUnlabelled())
}

// Suspended tells that a job is kept from running by a field of its own, as Kueue keeps those that have no quota.
func Suspended(o *cluster.Object) bool {
	for _, k := range kinds {
		if k.GroupKind == o.Ref.GroupKind() && k.suspended != nil {
			return k.suspended(o)
		}
	}
	return false
}
