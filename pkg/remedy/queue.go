package remedy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
)

const queueLabel = "kueue.x-k8s.io/queue-name"

// mostPerFinder bounds the candidates tried of one kind.
const mostPerFinder = 8

// edits tries changes of objects that keep the workload from being decided about, or out of every flavor. Each is tried
// with all layers; of each kind the first that helps is kept in alone. Those that do not suffice are in further.
func (f *Finder) edits(x *subject) (alone, further []Remedy) {
	finders := []func(*subject) []Remedy{
		f.otherQueue, f.newQueue, f.openQueue, f.openNamespace, f.coverResource, f.ungate, f.activate, f.withinLimits,
		f.mapClass,
		f.editTemplate, f.makeClass, f.copyTemplate, f.plainResource, f.enableDevices, f.podsReady, f.tolerated,
		f.publishedName, f.smallerCapacity,
	}
	for _, find := range finders {
		for i, r := range find(x) {
			if i == mostPerFinder {
				break
			}
			d := f.try(x.Charge, r.Changes...)
			if served(d) {
				alone = append(alone, r)
				break
			}
			if d.State != x.Predicted.State || d.Message != x.Predicted.Message {
				further = append(further, r)
			}
		}
	}
	return alone, further
}

// blockedBy is what is wrong with the queue that can't take the workload; without code when it can.
func blockedBy(c *charge.Charge) message.Message {
	for _, p := range c.Problems {
		if p.Code == charge.CodeQueueBlocked {
			return p.Blocked
		}
	}
	return message.Message{}
}

func patchOf(ref cluster.Ref, ops ...op) ([]cluster.Change, string) {
	patch := operations(ops...)
	return []cluster.Change{{Ref: ref, Patch: patch}}, kubectlPatch(ref, patch)
}

// otherQueue moves the workload to another LocalQueue of its namespace, one that takes it.
func (f *Finder) otherQueue(x *subject) []Remedy {
	w := x.Charge.Workload
	if blockedBy(x.Charge).Code == "" || w.Owner == nil {
		return nil
	}
	var out []Remedy
	for o := range cluster.All[*kueue.LocalQueue](f.snap, cluster.LocalQueue) {
		moved := *w
		moved.Queue = o.Ref.Name
		if o.Ref.Namespace != w.Namespace || o.Ref.Name == w.Queue || f.engine.Blocker(&moved) != nil {
			continue
		}
		r := Remedy{Action: fmt.Sprintf("use LocalQueue %s instead of %s", o.Ref.Name, w.Queue), Effect: "the label " +
			queueLabel + " names the queue"}
		r.Changes, r.Patch = patchOf(w.Owner.Ref, labelOps(w.Owner.Meta, queueLabel, o.Ref.Name)...)
		if w.Record != nil && len(w.Members) > 0 { // the Workload of a single job follows it
			changes, _ := patchOf(w.Record.Ref, op{"add", "/spec/queueName", o.Ref.Name})
			r.Changes = append(r.Changes, changes...)
		}
		out = append(out, r)
	}
	return out
}

// labelOps set a label, whether there are labels yet or not.
func labelOps(meta *metav1.ObjectMeta, key, value string) []op {
	if len(meta.Labels) == 0 {
		return []op{{"add", "/metadata/labels", map[string]string{key: value}}}
	}
	return []op{{"add", "/metadata/labels/" + escape(key), value}}
}

// newQueue makes the LocalQueue that the workload names.
func (f *Finder) newQueue(x *subject) []Remedy {
	w := x.Charge.Workload
	if !blockedBy(x.Charge).Is(message.LocalQueueNotFound) || w.Queue == "" {
		return nil
	}
	var out []Remedy
	for o := range cluster.All[*kueue.ClusterQueue](f.snap, cluster.ClusterQueue) {
		lq := &kueue.LocalQueue{Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(o.Ref.Name)}}
		lq.Name, lq.Namespace = w.Queue, w.Namespace
		ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.LocalQueue.Kind,
			Namespace: w.Namespace, Name: w.Queue}
		out = append(out, Remedy{
			Action: fmt.Sprintf("create LocalQueue %s in namespace %s for ClusterQueue %s", w.Queue, w.Namespace,
				o.Ref.Name),
			Patch: fmt.Sprintf("kubectl create -f - <<EOF\napiVersion: %s\nkind: LocalQueue\nmetadata: {name: %s, "+
				"namespace: %s}\nspec: {clusterQueue: %s}\nEOF",
				ref.APIVersion, w.Queue, w.Namespace, o.Ref.Name),
			Changes: []cluster.Change{{Ref: ref, Create: lq}},
		})
	}
	return out
}

// openQueue lifts what makes a queue inactive: a stop policy, a flavor that is missing, a cycle of cohorts.
func (f *Finder) openQueue(x *subject) []Remedy {
	state := f.queues.ClusterQueue(x.Charge.ClusterQueue)
	switch says := blockedBy(x.Charge); {
	case says.Is(message.LocalQueueInactive):
		return f.start(cluster.LocalQueue.Kind, x.Charge.Workload.Namespace, x.Charge.Workload.Queue)
	case says.Is(message.ClusterQueueInactive) && state != nil:
		return f.openClusterQueue(x.Charge.ClusterQueue, state)
	}
	return nil
}

// openClusterQueue lifts what makes a ClusterQueue inactive.
func (f *Finder) openClusterQueue(name string, state *queuestate.State) []Remedy {
	if state.Has(queuestate.Stopped) {
		return f.start(cluster.ClusterQueue.Kind, "", name)
	}
	return append(f.makeFlavors(name, state), f.untie(name)...)
}

func (f *Finder) start(kind, namespace, name string) []Remedy {
	ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: kind, Namespace: namespace, Name: name}
	r := Remedy{Action: fmt.Sprintf("%s %s: set stopPolicy to None", kind, name), Effect: "it takes workloads again"}
	r.Changes, r.Patch = patchOf(ref, op{"add", "/spec/stopPolicy", string(kueue.None)})
	return []Remedy{r}
}

// makeFlavors creates the flavors that a queue names and that do not exist.
func (f *Finder) makeFlavors(queue string, state *queuestate.State) []Remedy {
	var missing []string
	r := Remedy{Effect: "one missing flavor keeps the whole ClusterQueue out of service"}
	for _, c := range state.Causes {
		if c.Kind != queuestate.FlavorNotFound || slices.Contains(missing, c.Names[0]) {
			continue
		}
		name := c.Names[0]
		missing = append(missing, name)
		flavor := &kueue.ResourceFlavor{}
		flavor.Name = name
		ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.ResourceFlavor.Kind, Name: name}
		r.Changes = append(r.Changes, cluster.Change{Ref: ref, Create: flavor})
		r.Patch = strings.TrimSpace(r.Patch + fmt.Sprintf(
			"\nkubectl create -f - <<EOF\napiVersion: %s\nkind: ResourceFlavor\nmetadata: {name: %s}\nEOF",
			ref.APIVersion, name))
	}
	if len(missing) == 0 {
		return nil
	}
	r.Action = "create ResourceFlavor " + strings.Join(missing, ", ") +
		" (with the labels and taints of its nodes), or take it out of ClusterQueue " + queue
	return []Remedy{r}
}

// untie cuts a cycle of cohorts above a ClusterQueue.
func (f *Finder) untie(queue string) []Remedy {
	cq := f.queue(queue)
	if cq == nil {
		return nil
	}
	way := queuestate.AncestorsIn(f.snap, string(cq.Spec.CohortName))
	if !way.Endless() {
		return nil
	}
	var out []Remedy
	for _, name := range way.Cohorts {
		c, o, _ := cluster.Lookup[*kueue.Cohort](f.snap, cluster.Cohort, "", name)
		r := Remedy{Action: fmt.Sprintf("Cohort %s: take its parentName %s away", name, c.Spec.ParentName),
			Effect: "it is its own ancestor"}
		r.Changes, r.Patch = patchOf(o.Ref, op{"remove", "/spec/parentName", nil})
		out = append(out, r)
	}
	return out
}

// openNamespace lets the workload's namespace into the ClusterQueue: by a label, or by a wider selector.
func (f *Finder) openNamespace(x *subject) []Remedy {
	queue, ns := f.queue(x.Charge.ClusterQueue), f.snap.Get(cluster.Namespace, "", x.Charge.Workload.Namespace)
	if queue == nil || !blockedBy(x.Charge).Code.IsMismatch() {
		return nil
	}
	var out []Remedy
	if s := queue.Spec.NamespaceSelector; s != nil && ns != nil {
		wanted := map[string]string{}
		for k, v := range s.MatchLabels {
			wanted[k] = v
		}
		for _, m := range s.MatchExpressions {
			if m.Operator == metav1.LabelSelectorOpIn && len(m.Values) > 0 {
				wanted[m.Key] = m.Values[0]
			}
		}
		r := Remedy{Effect: "ClusterQueue " + queue.Name + " takes namespaces with it"}
		var texts []string
		for _, k := range sortedStrings(wanted) {
			if ns.Meta.Labels[k] != wanted[k] {
				texts = append(texts, k+"="+wanted[k])
				changes, _ := patchOf(ns.Ref, labelOps(ns.Meta, k, wanted[k])...)
				r.Changes = append(r.Changes, changes...)
			}
		}
		r.Action = fmt.Sprintf("label namespace %s with %s", ns.Ref.Name, strings.Join(texts, " "))
		r.Patch = fmt.Sprintf("kubectl label namespace %s --overwrite %s", ns.Ref.Name, strings.Join(texts, " "))
		if len(texts) > 0 {
			out = append(out, r)
		}
	}
	ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.ClusterQueue.Kind, Name: queue.Name}
	r := Remedy{Action: fmt.Sprintf("ClusterQueue %s: set namespaceSelector to {}", queue.Name),
		Effect: "it then takes workloads of every namespace"}
	r.Changes, r.Patch = patchOf(ref, op{"add", "/spec/namespaceSelector", map[string]any{}})
	return append(out, r)
}

func sortedStrings(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// coverResource adds resources that the queue does not cover to a resource group of it.
func (f *Finder) coverResource(x *subject) []Remedy {
	queue := f.queue(x.Charge.ClusterQueue)
	if queue == nil || x.Predicted.State != admission.Pending || len(queue.Spec.ResourceGroups) == 0 {
		return nil
	}
	covered := map[corev1.ResourceName]bool{}
	for _, g := range queue.Spec.ResourceGroups {
		for _, name := range g.CoveredResources {
			covered[name] = true
		}
	}
	var missing []corev1.ResourceName
	for name, v := range x.Charge.Total {
		if !covered[name] && v != 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	ref := cluster.Ref{APIVersion: kueue.SchemeGroupVersion.String(), Kind: cluster.ClusterQueue.Kind, Name: queue.Name}
	var out []Remedy
	for g, group := range queue.Spec.ResourceGroups {
		var ops []op
		var texts []string
		for _, name := range missing {
			amount := charge.Formatter{Binary: f.conf.BinaryResource}.Format(name, x.Charge.Total[name])
			ops = append(ops, op{"add", fmt.Sprintf("/spec/resourceGroups/%d/coveredResources/-", g), string(name)})
			for n := range group.Flavors {
				ops = append(ops,
					op{"add", fmt.Sprintf("/spec/resourceGroups/%d/flavors/%d/resources/-", g, n),
						map[string]string{"name": string(name), "nominalQuota": amount}})
			}
			texts = append(texts, fmt.Sprintf("%s with a quota of %s", name, amount))
		}
		r := Remedy{Action: fmt.Sprintf("ClusterQueue %s: cover %s in resource group %d", queue.Name,
			strings.Join(texts, ", "), g), Effect: "no resource group covers it"}
		r.Changes, r.Patch = patchOf(ref, ops...)
		out = append(out, r)
	}
	return out
}
