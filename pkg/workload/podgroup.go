package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

const (
	groupName     = "kueue.x-k8s.io/pod-group-name"
	groupTotal    = "kueue.x-k8s.io/pod-group-total-count"
	groupFast     = "kueue.x-k8s.io/pod-group-fast-admission"
	groupServing  = "kueue.x-k8s.io/pod-group-serving"
	podFinalizer  = "kueue.x-k8s.io/managed"
	annotationSet = "true"
)

// groupOf is the name of the pod group a pod belongs to, or "".
func (f *finder) groupOf(o *cluster.Object) string {
	if f.annotationsFirst() {
		if name := o.Meta.Annotations[groupName]; name != "" {
			return name
		}
	}
	return o.Meta.Labels[groupName]
}

// fromGroup lists a pod group without Workload object. Kueue takes queue, priority and total from whichever pod it
// meets first; where the pods disagree on them, it makes no Workload or the choice is chance.
func (f *finder) fromGroup(k *kind, ref cluster.Ref, members []*cluster.Object) {
	slices.SortFunc(members, func(a, b *cluster.Object) int { return cmp.Compare(a.Ref.Name, b.Ref.Name) })
	first := members[0]
	w := newEntry(first)
	w.OwnerRef, w.Members, w.State = ref, members, Managed
	w.Name = cmp.Or(f.prebuilt(first), ref.Name)
	var defaulted bool
	w.Queue, defaulted, _ = f.queueOf(first)
	v := verdict{queue: w.Queue}
	f.explainQueue(k, first, &v, defaulted)
	w.Reasons = v.reasons
	f.composeGroup(w, first)
	f.prioritise(k, first, w)
	if other := disagree(members,
		func(o *cluster.Object) string { return o.Meta.Labels[priorityLabel] }); other != nil {
		w.Reasons = append(w.Reasons, reason(DecidedByChance, "Its pods have different priority classes; which one "+
			"counts is chance.", other, priorityLabelPath))
	}
	f.applyReclaimable(w.PodSets, f.succeeded(w))
	f.add(w)
}

// composeGroup finds the pod sets of a group, and what keeps Kueue from making a Workload of it.
func (f *finder) composeGroup(w *Workload, first *cluster.Object) {
	total, err := strconv.Atoi(first.Meta.Annotations[groupTotal])
	if err != nil || total < 1 {
		w.State = Stuck
		w.Reasons = append(w.Reasons,
			reason(GroupTotalsDiffer, "Its annotation "+groupTotal+" is no number above zero.", first,
				annotationPath(groupTotal)))
	}
	var running []*cluster.Object
	succeeded := 0
	for _, o := range w.Members {
		if runnable(o) {
			running = append(running, o)
		}
		if cluster.As[*corev1.Pod](o).Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
	}
	fast := first.Meta.Annotations[groupFast] == annotationSet
	if excess := len(running) - total; excess > 0 && total > 0 {
		sortKept(running)
		running = running[:total]
	}
	if fast {
		w.PodSets = f.fastPodSets(running, total, w)
	} else {
		w.PodSets = f.rolePodSets(running)
	}
	if w.State == Managed {
		f.checkGroup(w, first, running, total, succeeded, fast)
	}
}

func (f *finder) checkGroup(w *Workload, first *cluster.Object, running []*cluster.Object, total, succeeded int,
	fast bool) {
	fail := func(state State, code, text string, at *cluster.Object, path string) {
		w.State = state
		w.Reasons = append(w.Reasons, reason(code, text, at, path))
	}
	living := slices.DeleteFunc(slices.Clone(w.Members), func(o *cluster.Object) bool {
		return cluster.As[*corev1.Pod](o).Status.Phase == corev1.PodFailed
	})
	queue := func(o *cluster.Object) string { q, _, _ := f.queueOf(o); return q }
	totals := func(o *cluster.Object) string { return o.Meta.Annotations[groupTotal] }
	taken := f.snap.Get(cluster.Workload, w.Namespace, w.Name)
	switch {
	case succeeded == total:
		fail(Unmanaged, HasEnded, "All its pods have succeeded; Kueue makes no Workload for it any more.", first,
			statusPath)
	case taken != nil && f.cfg.Behavior.PodGroupOwnerValidated:
		fail(Stuck, WorkloadNameTaken, "A Workload of the group's name exists and is not the group's: its pods stay "+
			"gated.", taken, "")
	case !fast && len(running) < total:
		fail(Incomplete, GroupIncomplete, fmt.Sprintf("%d of its %d pods are there; Kueue makes no Workload before "+
			"the group is complete.", len(running), total), first, annotationPath(groupTotal))
	case fast && len(running) == 0:
		fail(Incomplete, GroupIncomplete, "None of its pods can run; Kueue makes no Workload.", first, statusPath)
	case disagree(living, queue) != nil:
		fail(Stuck, GroupQueuesDiffer, "Its pods name different queues; Kueue makes no Workload and they stay gated.",
			disagree(living, queue), queueLabelPath)
	case disagree(living, totals) != nil:
		fail(Stuck, GroupTotalsDiffer, "Its pods state different totals; Kueue makes no Workload and they stay gated.",
			disagree(living, totals), annotationPath(groupTotal))
	default:
		f.checkPodSets(w)
	}
}

func annotationPath(key string) string { return `metadata.annotations["` + key + `"]` }

// disagree returns the first pod whose value is not that of the first one, or nil.
func disagree(pods []*cluster.Object, value func(*cluster.Object) string) *cluster.Object {
	for _, o := range pods {
		if value(o) != value(pods[0]) {
			return o
		}
	}
	return nil
}

// runnable: the pod has not failed, and is not deleted before it ever got a node.
func runnable(o *cluster.Object) bool {
	pod := cluster.As[*corev1.Pod](o)
	if pod.DeletionTimestamp != nil && pod.Spec.NodeName == "" {
		return false
	}
	return pod.Status.Phase != corev1.PodFailed
}

// sortKept puts the pods first that stay when a group has too many: those with Kueue's finalizer, those that are not
// gated, the older ones.
func sortKept(pods []*cluster.Object) {
	rank := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(pods, func(a, b *cluster.Object) int {
		return cmp.Or(
			cmp.Compare(rank(slices.Contains(a.Meta.Finalizers, podFinalizer)),
				rank(slices.Contains(b.Meta.Finalizers, podFinalizer))),
			cmp.Compare(rank(!isGated(a)), rank(!isGated(b))),
			a.Meta.CreationTimestamp.Compare(b.Meta.CreationTimestamp.Time),
			cmp.Compare(a.Seq, b.Seq))
	})
}

// rolePodSets makes one pod set per role hash, sorted by hash.
func (f *finder) rolePodSets(pods []*cluster.Object) []PodSet {
	var out []PodSet
	for _, o := range pods {
		name := f.roleOf(o)
		i := slices.IndexFunc(out, func(ps PodSet) bool { return ps.Name == name })
		if i >= 0 {
			out[i].Count++
			continue
		}
		ps := podSetOf(o)
		ps.Name = name
		out = append(out, ps)
	}
	slices.SortFunc(out, func(a, b PodSet) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// fastPodSets takes the first pod to stand for all of the total.
func (f *finder) fastPodSets(pods []*cluster.Object, total int, w *Workload) []PodSet {
	if len(pods) == 0 {
		return nil
	}
	if other := disagree(pods, f.roleOf); other != nil {
		w.Reasons = append(w.Reasons, reason(DecidedByChance, "Its pods differ, and with fast admission one of them "+
			"stands for all; which one is chance.", other, annotationPath(groupFast)))
	}
	ps := podSetOf(pods[0])
	ps.Name, ps.Count = f.roleOf(pods[0]), clamp(int64(total))
	return []PodSet{ps}
}

// succeeded counts the pods of each role whose work is done; groups that serve keep what they have.
func (f *finder) succeeded(w *Workload) map[string]int32 {
	out := map[string]int32{}
	if !f.cfg.Enabled(release.ReclaimablePods) || w.Owner.Meta.Annotations[groupServing] == annotationSet {
		return out
	}
	for _, o := range w.Members {
		if cluster.As[*corev1.Pod](o).Status.Phase == corev1.PodSucceeded {
			out[f.roleOf(o)]++
		}
	}
	return out
}
