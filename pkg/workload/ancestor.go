package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// longestOwnerChain is how far Kueue follows owner references.
const longestOwnerChain = 10

// ancestry is what walking up the controllers of a job found.
type ancestry struct {
	// top is the highest ancestor that Kueue manages; zero when there is none.
	top cluster.Ref
	// missing is an owner that is not in the input, with which the answer might be another.
	missing cluster.Ref
	// problem stops Kueue: an owner that does not exist, a circle, or a chain that is too long.
	problem *Reason
}

// ancestorOf walks up the controller references. The topmost ancestor of an enabled kind that has a queue name (or
// any, with manageJobsWithoutQueueName) owns the Workload; its children have none.
func (f *finder) ancestorOf(o *cluster.Object) ancestry {
	var a ancestry
	current := o
	seen := map[*cluster.Object]bool{}
	for {
		if seen[current] {
			r := reason(OwnerChainTooLong, "Its owner references form a circle; Kueue gives up on it.", o, ownersPath)
			a.problem = &r
			return a
		}
		seen[current] = true
		ref := metav1.GetControllerOfNoCopy(current.Meta)
		if ref == nil {
			return a
		}
		k := f.kindByReference(ref.APIVersion, ref.Kind)
		external := f.isExternal(ref.APIVersion, ref.Kind)
		through := ref.Kind == cluster.ReplicaSet.Kind && ref.APIVersion == "apps/v1"
		if k == nil && !external && !through {
			return a
		}
		named := cluster.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: o.Ref.Namespace, Name: ref.Name}
		parent := f.snap.Get(named.GroupKind(), named.Namespace, named.Name)
		if parent == nil {
			f.parentMissing(&a, o, named)
			return a
		}
		if f.otherObject(parent, ref) {
			return a
		}
		if f.managesAncestor(k, external, parent) {
			a.top = parent.Ref
		}
		current = parent
		if len(seen) > longestOwnerChain {
			r := reason(OwnerChainTooLong, "It has more owners above it than Kueue follows; Kueue gives up on it.", o,
				ownersPath)
			a.problem = &r
			return a
		}
	}
}

// parentMissing tells what an owner means that is not in the input: a Workload made for it proves that it is managed;
// if its kind is in the input, it does not exist; else nothing is known.
func (f *finder) parentMissing(a *ancestry, o *cluster.Object, named cluster.Ref) {
	switch {
	case f.ownedRefs[named]:
		a.top = named
	case f.snap.Coverage.HasIn(named.GroupKind(), o.Ref.Namespace):
		r := reason(OwnerNotFound, "Its owner "+named.String()+" does not exist; Kueue can't tell who manages it and "+
			"makes no Workload.", o, ownersPath)
		a.problem = &r
	default:
		a.missing = named
	}
}

// otherObject tells that an owner reference means another object than the one of that name.
func (f *finder) otherObject(parent *cluster.Object, ref *metav1.OwnerReference) bool {
	return f.cfg.Behavior.AncestorUIDChecked && ref.UID != "" && parent.Meta.UID != "" && parent.Meta.UID != ref.UID
}

func (f *finder) managesAncestor(k *kind, external bool, parent *cluster.Object) bool {
	if !external && (k == nil || !f.enabled(k)) {
		return false
	}
	if f.managesUnlabelled() {
		return true
	}
	queue, _, _ := f.queueOf(parent)
	return queue != ""
}
