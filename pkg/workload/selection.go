package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
)

// answer is yes, no, or that the evidence is missing.
type answer int

const (
	unknown answer = iota
	yes
	no
)

func toAnswer(b bool) answer {
	if b {
		return yes
	}
	return no
}

const (
	nameLabel    = corev1.LabelMetadataName
	defaultQueue = "default"
)

// readFrameworks takes the enabled frameworks from the configuration. Without a configuration none is known to be
// off, so every kind that needs no alpha gate counts as enabled, and each answer that rests on it says so.
func (f *finder) readFrameworks() {
	f.enabledFrameworks, f.implicitFrameworks = map[string]bool{}, map[string]bool{}
	if !f.cfg.Found {
		for _, k := range f.kinds {
			f.enabledFrameworks[k.Framework] = true
		}
		return
	}
	in := f.cfg.Configuration.Integrations
	if in == nil {
		return
	}
	for _, name := range in.Frameworks {
		f.enabledFrameworks[name] = true
	}
	for _, k := range f.kinds {
		if k.ImpliesPod && f.enabledFrameworks[k.Framework] && !f.enabledFrameworks[jobs.Pod.Framework] {
			f.implicitFrameworks[jobs.Pod.Framework] = true
		}
	}
	for _, arg := range in.ExternalFrameworks {
		if gvk, _ := schema.ParseKindArg(arg); gvk != nil {
			f.external = append(f.external, cluster.Ref{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind})
		}
	}
}

// enabled tells that Kueue's webhook and controller for the kind are on.
func (f *finder) enabled(k *kind) bool {
	if k.Gate != "" && !f.cfg.Enabled(k.Gate) {
		return false
	}
	return f.enabledFrameworks[k.Framework] || f.implicitFrameworks[k.Framework]
}

// isExternal tells that an owner is of a kind the configuration names as an external framework.
func (f *finder) isExternal(apiVersion, kind string) bool {
	return slices.Contains(f.external, cluster.Ref{APIVersion: apiVersion, Kind: kind})
}

// managesUnlabelled is manageJobsWithoutQueueName.
func (f *finder) managesUnlabelled() bool { return f.cfg.Configuration.ManageJobsWithoutQueueName }

// readSelector takes managedJobsNamespaceSelector, or Kueue's own default for it.
func (f *finder) readSelector() {
	selector := f.cfg.Configuration.ManagedJobsNamespaceSelector
	if selector != nil {
		if s, err := metav1.LabelSelectorAsSelector(selector); err == nil {
			f.selector = s
			return
		}
	}
	manager := f.cfg.ManagerNamespace
	if manager == "" {
		manager = "kueue-system"
	}
	s, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: nameLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system", manager}},
	}})
	if err != nil {
		s = labels.Everything()
	}
	f.selector = s
}

// namespaceSelected tells whether the namespace's labels match managedJobsNamespaceSelector. It is unknown when the
// Namespace is not in the input, unless its name, which every namespace carries as a label, decides.
func (f *finder) namespaceSelected(namespace string) answer {
	a, ok := f.selected[namespace]
	if !ok {
		a = f.matchNamespace(namespace)
		f.selected[namespace] = a
	}
	return a
}

func (f *finder) matchNamespace(namespace string) answer {
	known := labels.Set{}
	ns, _, held := cluster.Lookup[*corev1.Namespace](f.snap, cluster.Namespace, "", namespace)
	if held {
		for key, value := range ns.Labels {
			known[key] = value
		}
	}
	known[nameLabel] = namespace
	if held {
		return toAnswer(f.selector.Matches(known))
	}
	requirements, selectable := f.selector.Requirements()
	if !selectable {
		return no
	}
	result := yes
	for i := range requirements {
		switch {
		case requirements[i].Key() != nameLabel:
			result = unknown
		case !requirements[i].Matches(known):
			return no
		}
	}
	return result
}

// webhooksSee tells whether Kueue's webhooks are called for objects of a namespace. Upstream they are everywhere;
// the OpenShift operator limits them to the selected namespaces.
func (f *finder) webhooksSee(namespace string) answer {
	if !f.cfg.OpenShift {
		return yes
	}
	return f.namespaceSelected(namespace)
}

// queueOf is the LocalQueue of an object: its label, or LocalQueue `default` of its namespace, with which the webhook
// labels new objects. known is false when that depends on a Namespace that is not in the input.
func (f *finder) queueOf(o *cluster.Object) (queue string, defaulted, known bool) {
	if q := o.Meta.Labels[queueLabel]; q != "" {
		return q, false, true
	}
	if !fresh(o) || !f.defaultQueueBefore(o) {
		return "", false, true
	}
	k := f.kindOf(o.Ref.GroupKind())
	if k == nil || !f.enabled(k) || k.care != byPod && f.ownedByEnabledKind(o) {
		return "", false, true
	}
	sees := f.webhooksSee(o.Ref.Namespace)
	if sees == yes && (f.cfg.Behavior.DefaultLQChecksNamespace || k.care == byPod) {
		sees = f.namespaceSelected(o.Ref.Namespace)
	}
	switch sees {
	case yes:
		return defaultQueue, true, true
	case no:
		return "", false, true
	}
	return "", false, false
}

func (f *finder) ownedByEnabledKind(o *cluster.Object) bool {
	ref := metav1.GetControllerOfNoCopy(o.Meta)
	if ref == nil {
		return false
	}
	k := f.kindByReference(ref.APIVersion, ref.Kind)
	return k != nil && f.enabled(k) || f.isExternal(ref.APIVersion, ref.Kind)
}

// defaultQueueBefore tells that the namespace has a LocalQueue `default` when the object is created: one in the
// cluster, or one that comes before it in the manifests.
func (f *finder) defaultQueueBefore(o *cluster.Object) bool {
	queue := f.snap.Get(cluster.LocalQueue, o.Ref.Namespace, defaultQueue)
	return queue != nil && (!fresh(queue) || queue.Seq < o.Seq)
}
