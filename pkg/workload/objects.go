package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
)

const (
	groupAnnotation     = "kueue.x-k8s.io/is-group-workload"
	ownerKindAnnotation = "kueue.x-k8s.io/job-owner-gvk"
	ownerNameAnnotation = "kueue.x-k8s.io/job-owner-name"
	indexAnnotation     = "kueue.x-k8s.io/component-workload-index"
	jobUIDLabel         = "kueue.x-k8s.io/job-uid"
	podGroupKind        = "PodGroup"
	podGroupAPIVersion  = "v1"
)

// fromObjects lists the Workload objects, each with its owner.
func (f *finder) fromObjects() {
	for record, object := range cluster.All[*kueue.Workload](f.snap, cluster.Workload) {
		w := f.fromObject(record, object)
		f.findOwner(w)
		f.noteOwner(w)
		f.layOver(w)
		if f.wants(w.Namespace) {
			f.add(w)
		}
	}
}

func (f *finder) fromObject(record *cluster.Object, object *kueue.Workload) *Workload {
	w := &Workload{
		Object: object, Record: record, Index: -1, State: Managed,
		Namespace: record.Ref.Namespace, Name: record.Ref.Name,
		Queue:  string(object.Spec.QueueName),
		Active: object.Spec.Active == nil || *object.Spec.Active,
	}
	if object.Spec.Priority != nil {
		w.Priority = *object.Spec.Priority
	}
	if ref := object.Spec.PriorityClassRef; ref != nil {
		w.PriorityClass = ref.Name
	}
	if i, err := strconv.Atoi(object.Annotations[indexAnnotation]); err == nil && i >= 0 {
		w.Index = i
	}
	for i := range object.Spec.PodSets {
		ps := &object.Spec.PodSets[i]
		w.PodSets = append(w.PodSets, PodSet{
			Name: string(ps.Name), Count: ps.Count, MinCount: ps.MinCount, Template: &ps.Template,
			Source: record, Path: "spec.podSets[" + strconv.Itoa(i) + "].template",
		})
	}
	f.applyReclaimable(w.PodSets, recorded.Reclaimable(object))
	return w
}

// findOwner links a Workload to its job: by owner reference, by the annotations of the two sets, by the job's UID,
// as a pod group, and at last by name.
func (f *finder) findOwner(w *Workload) {
	meta := w.Record.Meta
	if ref := metav1.GetControllerOfNoCopy(w.Object); ref != nil {
		f.setOwner(w, ref.APIVersion, ref.Kind, ref.Name, ref.UID)
		return
	}
	if kind, name := meta.Annotations[ownerKindAnnotation], meta.Annotations[ownerNameAnnotation]; kind != "" &&
		name != "" {
		apiVersion, kindName := parseOwnerKind(kind)
		f.setOwner(w, apiVersion, kindName, name, types.UID(meta.Labels[jobUIDLabel]))
		return
	}
	for _, ref := range meta.OwnerReferences {
		if ref.Kind != cluster.Pod.Kind {
			f.setOwner(w, ref.APIVersion, ref.Kind, ref.Name, ref.UID)
			return
		}
	}
	if meta.Annotations[groupAnnotation] == "true" || len(meta.OwnerReferences) > 0 {
		f.setGroup(w)
		return
	}
	owner := f.snap.ByUID(types.UID(meta.Labels[jobUIDLabel]))
	if owner == nil {
		named := f.jobNamed(w.Namespace, w.Name)
		owner = named.job
		w.Index = max(w.Index, named.index)
	}
	if owner != nil && owner.Ref.Namespace == w.Namespace {
		w.Owner, w.OwnerRef = owner, owner.Ref
		return
	}
	if members := f.membersOf(w.Namespace, w.Name); len(members) > 0 && !f.cfg.Behavior.PodGroupOwnerValidated {
		f.setGroup(w)
	}
}

// parseOwnerKind reads Kueue's way of writing a group, version and kind: "apps/v1, Kind=StatefulSet".
func parseOwnerKind(s string) (apiVersion, kind string) {
	apiVersion, kind, _ = strings.Cut(s, ", Kind=")
	return apiVersion, kind
}

func (f *finder) setOwner(w *Workload, apiVersion, kind, name string, uid types.UID) {
	w.OwnerRef = cluster.Ref{APIVersion: apiVersion, Kind: kind, Namespace: w.Namespace, Name: name}
	owner := f.snap.Get(w.OwnerRef.GroupKind(), w.Namespace, name)
	switch {
	case owner == nil:
		w.Reasons = append(w.Reasons,
			reason(OwnerNotInInput, w.OwnerRef.String()+" is not in the input.", w.Record, ownersPath))
	case uid != "" && owner.Meta.UID != "" && owner.Meta.UID != uid:
		w.Reasons = append(w.Reasons, reason(OwnerReplaced,
			owner.Ref.String()+
				" is another object of the same name: its UID is not the one this Workload was made for.", w.Record,
			ownersPath))
	default:
		w.Owner, w.OwnerRef = owner, owner.Ref
	}
}

func (f *finder) setGroup(w *Workload) {
	w.OwnerRef = groupRef(w.Namespace, w.Name)
	w.Members = f.membersOf(w.Namespace, w.Name)
	for _, ref := range w.Record.Meta.OwnerReferences {
		if o := f.snap.Get(cluster.Pod, w.Namespace, ref.Name); o != nil && !slices.Contains(w.Members, o) {
			w.Members = append(w.Members, o)
		}
	}
	slices.SortFunc(w.Members, func(a, b *cluster.Object) int { return cmp.Compare(a.Ref.Name, b.Ref.Name) })
	if len(w.Members) > 0 {
		w.Owner = w.Members[0]
	}
	f.groups[w.OwnerRef] = w
}

func groupRef(namespace, name string) cluster.Ref {
	return cluster.Ref{APIVersion: podGroupAPIVersion, Kind: podGroupKind, Namespace: namespace, Name: name}
}

// noteOwner remembers that the owner has a Workload, so that it is not listed again.
func (f *finder) noteOwner(w *Workload) {
	if w.OwnerRef.IsZero() {
		return
	}
	f.ownedRefs[w.OwnerRef] = true
	k := f.kindOf(w.OwnerRef.GroupKind())
	if k != nil && k.replicas != nil && w.Index < 0 {
		// Older versions did not write the index down.
		w.Index = f.jobNamed(w.Namespace, w.Name).index
	}
	for _, o := range append(slices.Clone(w.Members), w.Owner) {
		if o == nil {
			continue
		}
		if f.owned[o] == nil {
			f.owned[o] = map[int]bool{}
		}
		f.owned[o][w.Index] = true
	}
	if k != nil && k.dropsClaims && w.Owner != nil {
		w.LostClaims = k.podSets(f, w.Owner).lostClaims
	}
}

func isFinished(w *kueue.Workload) bool {
	return slices.ContainsFunc(w.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == kueue.WorkloadFinished && c.Status == metav1.ConditionTrue
	})
}

// namedJob is the job (and replica) for which a Workload has the name it has.
type namedJob struct {
	job   *cluster.Object
	index int
}

// jobNamed finds the job of a Workload that says nothing of its owner, by the name Kueue would give the Workload.
func (f *finder) jobNamed(namespace, workload string) namedJob {
	if f.jobsByName == nil {
		f.jobsByName = map[types.NamespacedName]namedJob{}
		for _, k := range f.kinds {
			f.each(k, f.nameJob)
		}
	}
	if named, ok := f.jobsByName[types.NamespacedName{Namespace: namespace, Name: workload}]; ok {
		return named
	}
	return namedJob{index: -1}
}

func (f *finder) nameJob(k *kind, o *cluster.Object) {
	note := func(name string, index int) {
		key := types.NamespacedName{Namespace: o.Ref.Namespace, Name: name}
		if _, taken := f.jobsByName[key]; !taken && name != "" {
			f.jobsByName[key] = namedJob{o, index}
		}
	}
	switch {
	case k.replicas != nil:
		for i := range min(k.replicas(o), mostListed) {
			note(f.replicaName(k, o, i), int(i))
		}
	case k.care == byPods, k.care == byPod && f.groupOf(o) != "":
	default:
		note(f.nameFor(k, o), -1)
	}
}
