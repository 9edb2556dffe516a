package workload

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// Options limit what Find looks at.
type Options struct {
	// Namespace, when set, is the only namespace whose workloads are listed.
	Namespace string
}

// Find lists every Workload object of the snapshot and every job that has none, with the state Kueue gives it.
// A Workload whose owner is in the input is listed once. Jobs outside Kueue's care are listed too, with
// the reason, as are the children of managed jobs (State Elsewhere).
// The order is by namespace, owner kind, owner name, index and Workload name.
func Find(snap *cluster.Snapshot, cfg *config.Config, opts Options) []*Workload {
	f := newFinder(snap, cfg, opts)
	f.fromObjects()
	for _, k := range f.kinds {
		switch k.care {
		case byPod:
			f.fromPods(k)
		case byPods:
			f.each(k, f.fromDeployment)
		default:
			f.each(k, f.fromJob)
		}
	}
	slices.SortStableFunc(f.out, compare)
	return f.out
}

func compare(a, b *Workload) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.OwnerRef.Kind, b.OwnerRef.Kind),
		cmp.Compare(a.OwnerRef.Name, b.OwnerRef.Name), cmp.Compare(a.Index, b.Index),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.OwnerRef.APIVersion, b.OwnerRef.APIVersion))
}

// finder carries one run of Find.
type finder struct {
	snap *cluster.Snapshot
	cfg  *config.Config
	opts Options
	// kinds is the registry. The functions in it may not name it, or it would not initialise.
	kinds []*kind

	enabledFrameworks, implicitFrameworks map[string]bool
	external                              []cluster.Ref // kind and apiVersion only
	selector                              labels.Selector
	selected                              map[string]answer

	// owned holds the owners that have a Workload object, owner by owner the replica indexes seen (-1: all).
	owned map[*cluster.Object]map[int]bool
	// ownedRefs are owners named by Workload objects, whether in the input or not.
	ownedRefs map[cluster.Ref]bool
	// groups are the pod groups that have a Workload object.
	groups map[cluster.Ref]*Workload
	// These are made when first asked for.
	podsByGroup, podsByDeployment map[types.NamespacedName][]*cluster.Object
	jobsByName                    map[types.NamespacedName]namedJob

	out []*Workload
}

func newFinder(snap *cluster.Snapshot, cfg *config.Config, opts Options) *finder {
	f := &finder{
		snap: snap, cfg: cfg, opts: opts, kinds: kinds,
		selected: map[string]answer{}, owned: map[*cluster.Object]map[int]bool{},
		ownedRefs: map[cluster.Ref]bool{}, groups: map[cluster.Ref]*Workload{},
	}
	f.readFrameworks()
	f.readSelector()
	return f
}

func (f *finder) each(k *kind, do func(*kind, *cluster.Object)) {
	for _, o := range f.snap.List(k.GroupKind) {
		if f.wants(o.Ref.Namespace) && o.Meta != nil {
			do(k, o)
		}
	}
}

func (f *finder) wants(namespace string) bool {
	return f.opts.Namespace == "" || f.opts.Namespace == namespace
}

func (f *finder) add(w *Workload) { f.out = append(f.out, w) }

// hasWorkload tells that the owner (its replica, when index is not negative) has a Workload object.
func (f *finder) hasWorkload(o *cluster.Object, index int) bool {
	seen := f.owned[o]
	return seen[-1] || index >= 0 && seen[index]
}

// fresh tells that an object never passed an API server in the form it has here: the webhooks are still to see it.
func fresh(o *cluster.Object) bool { return o.Laid || o.Meta.UID == "" }

// newEntry starts the entry of a job without Workload object.
func newEntry(o *cluster.Object) *Workload {
	return &Workload{Owner: o, OwnerRef: o.Ref, Index: -1, Namespace: o.Ref.Namespace, Active: true}
}

// fromJob lists a job of the kinds that have one Workload per job (or per replica).
func (f *finder) fromJob(k *kind, o *cluster.Object) {
	if k.replicas != nil {
		f.fromReplicas(k, o)
		return
	}
	if f.hasWorkload(o, -1) {
		return
	}
	w := newEntry(o)
	f.settle(k, o, w)
	w.Name = f.nameFor(k, o)
	f.add(w)
}

// settle decides the state of a job without Workload object and gives the entry its pod sets and priority.
func (f *finder) settle(k *kind, o *cluster.Object, w *Workload) {
	v := f.decide(k, o)
	w.State, w.Queue, w.Reasons, w.Missing, w.Via = v.state, v.queue, v.reasons, v.missing, v.via
	s := k.podSets(f, o)
	f.applyShape(w, s)
	if w.State == Managed && s.problem == nil && len(s.missing) == 0 {
		f.checkPodSets(w)
	}
	f.prioritise(k, o, w)
	if k.reclaimable != nil {
		f.applyReclaimable(w.PodSets, k.reclaimable(f, o, w.PodSets))
	}
}

// applyShape takes over pod sets and what stands in their way. Unmanaged jobs keep their pod sets: what they
// would ask for is worth telling.
func (f *finder) applyShape(w *Workload, s shape) {
	w.PodSets = s.podSets
	if s.lostClaims {
		w.LostClaims = true
		w.Reasons = append(w.Reasons, reason(ClaimsLost, w.OwnerRef.Kind+
			"'s integration copies only part of the pod spec: resource claims are left out and cost nothing.", w.Owner,
			""))
	}
	if w.State != Managed {
		return
	}
	if len(s.missing) > 0 {
		w.State, w.Missing = Undetermined, append(w.Missing, s.missing...)
	}
	if s.problem != nil {
		w.Reasons = append(w.Reasons, *s.problem)
		if len(s.missing) == 0 {
			w.State = Stuck
		}
	}
}
