package cli

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// maxOwners bounds the way up a chain of owners, which may be a cycle in broken input.
const maxOwners = 16

// choose takes the workloads asked for, in their order: where nothing selects, those of the jobs of -f, if it holds
// any. The error names the arguments nothing answers to.
func choose(snap *cluster.Snapshot, all []*workload.Workload, o *options) ([]*workload.Workload, error) {
	laid := o.ofFiles(all)
	all = slices.DeleteFunc(slices.Clone(all), func(w *workload.Workload) bool {
		return o.namespace != "" && !o.showsAll && w.Namespace != o.namespace || !labelled(w, o.labels)
	})
	var missing []error
	if len(o.within) > 0 {
		all, missing = inQueues(snap, all, o)
	}
	switch {
	case len(o.targets) > 0:
	case len(laid) == 0:
		return ownOnes(all), errors.Join(missing...)
	default:
		all = slices.DeleteFunc(all, func(w *workload.Workload) bool { return !isLaid(w) })
		if len(all) == 0 {
			missing = append(missing, fmt.Errorf("the workloads of -f are in namespace %[1]s, not in %[2]s; name it "+
				"with -n %[1]s", laid[0].Namespace, o.namespace))
		}
		return ownOnes(all), errors.Join(missing...)
	}
	wanted := map[*workload.Workload]bool{}
	for _, t := range o.targets {
		hits := ownOnes(answering(snap, all, t))
		for _, w := range hits {
			wanted[w] = true
		}
		if len(hits) == 0 && t.name != "" {
			missing = append(missing, notFound(snap, t, o))
		}
	}
	chosen := slices.DeleteFunc(all, func(w *workload.Workload) bool { return !wanted[w] })
	return chosen, errors.Join(missing...)
}

// ofFiles are the workloads of the jobs of -f, when they are what is asked for: nothing else is selected, and there is
// a cluster or an export below the files.
func (o *options) ofFiles(all []*workload.Workload) []*workload.Workload {
	if !o.aboutFiles || len(o.filenames) == 0 || o.filesAlone || o.allNamespaces || len(o.targets)+len(o.within) > 0 ||
		!o.labels.Empty() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(w *workload.Workload) bool { return !isLaid(w) })
}

// isLaid tells that the job of a workload, or the Workload itself, comes from -f.
func isLaid(w *workload.Workload) bool {
	of := append([]*cluster.Object{w.Record, w.Owner}, w.Members...)
	return slices.ContainsFunc(of, func(o *cluster.Object) bool { return o != nil && o.Laid })
}

// inQueues keeps the workloads of the queues of --queue. A queue without workloads is found when it is in the input.
func inQueues(snap *cluster.Snapshot, all []*workload.Workload, o *options) (kept []*workload.Workload,
	missing []error) {
	found := map[string]bool{}
	for _, w := range all {
		in := false
		for _, t := range o.within {
			if t.kind == cluster.LocalQueue && w.Queue == t.name || t.kind == cluster.ClusterQueue &&
				queueOf(snap, w) == t.name {
				in, found[t.name] = true, true
			}
		}
		if in {
			kept = append(kept, w)
		}
	}
	for _, t := range o.within {
		for _, object := range snap.List(t.kind) {
			found[t.name] = found[t.name] || object.Ref.Name == t.name
		}
	}
	for _, t := range o.within {
		if !found[t.name] {
			found[t.name] = true // of NAME for both kinds, told once
			missing = append(missing, notFound(snap, t, o))
		}
	}
	return kept, missing
}

// ownOnes leaves out the children of managed jobs, which are charged through these, unless there is nothing else.
func ownOnes(all []*workload.Workload) []*workload.Workload {
	own := slices.DeleteFunc(slices.Clone(all),
		func(w *workload.Workload) bool { return w.State == workload.Elsewhere })
	if len(own) == 0 {
		return all
	}
	return own
}

func labelled(w *workload.Workload, s labels.Selector) bool {
	if s.Empty() {
		return true
	}
	for _, o := range []*cluster.Object{w.Record, w.Owner} {
		if o != nil && o.Meta != nil && s.Matches(labels.Set(o.Meta.Labels)) {
			return true
		}
	}
	return slices.ContainsFunc(w.Members, func(o *cluster.Object) bool { return s.Matches(labels.Set(o.Meta.Labels)) })
}

// identity is an object without its version.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func identityOf(r cluster.Ref) identity {
	gk := r.GroupKind()
	if gk.Kind == podGroup.Kind {
		gk = podGroup
	}
	return identity{gk, r.Namespace, r.Name}
}

// answering finds the workloads of a target: those made of it, those made of an owner of it (a pod of a
// job), and those made of what it owns (the pods of a deployment).
func answering(snap *cluster.Snapshot, all []*workload.Workload, t target) []*workload.Workload {
	above := map[identity]bool{}
	for _, o := range snap.List(t.kind) {
		if t.name == "" || o.Ref.Name == t.name {
			for _, owner := range owners(snap, o) {
				above[owner] = true
			}
		}
	}
	is := func(id identity) bool { return id.kind == t.kind && (t.name == "" || id.name == t.name) }
	var out []*workload.Workload
	for _, w := range all {
		switch {
		case is(identityOf(w.Ref())), is(identityOf(w.OwnerRef)):
		case is(identity{cluster.LocalQueue, w.Namespace, w.Queue}),
			is(identity{cluster.ClusterQueue, "", queueOf(snap, w)}):
		case t.name != "" && above[identityOf(w.OwnerRef)]:
		case slices.ContainsFunc(w.Members, func(o *cluster.Object) bool { return is(identityOf(o.Ref)) }):
		case w.Owner != nil && slices.ContainsFunc(owners(snap, w.Owner), is):
		default:
			continue
		}
		out = append(out, w)
	}
	return out
}

// queueOf is the ClusterQueue that a workload's LocalQueue leads to; empty when that is not in the input.
func queueOf(snap *cluster.Snapshot, w *workload.Workload) string {
	lq := cluster.As[*kueue.LocalQueue](snap.Get(cluster.LocalQueue, w.Namespace, w.Queue))
	if lq == nil {
		return ""
	}
	return string(lq.Spec.ClusterQueue)
}

// owners are the controllers above an object, nearest first.
func owners(snap *cluster.Snapshot, o *cluster.Object) []identity {
	var out []identity
	for range maxOwners {
		if o == nil || o.Meta == nil {
			break
		}
		ref := metav1.GetControllerOfNoCopy(o.Meta)
		if ref == nil {
			break
		}
		id := identityOf(cluster.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: o.Ref.Namespace,
			Name: ref.Name})
		out = append(out, id)
		o = snap.Get(id.kind, id.namespace, id.name)
	}
	return out
}

func notFound(snap *cluster.Snapshot, t target, o *options) error {
	where := "in the input"
	if o.namespace != "" {
		where = "in namespace " + o.namespace
	}
	if snap.Live {
		where += " of the cluster"
	}
	if !o.labels.Empty() {
		where += " with labels " + o.labels.String()
	}
	hint := ""
	if why := snap.Coverage.WhyMissing(t.kind); why != "" && snap.Live {
		hint = fmt.Sprintf(" (%s could not be read: %s)", t.kind, why)
	}
	return fmt.Errorf("%s not found %s%s", t, where, hint)
}
