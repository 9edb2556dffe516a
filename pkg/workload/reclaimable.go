package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// applyReclaimable sets the pods that no longer use quota, at most the count where the version clamps it.
func (f *finder) applyReclaimable(podSets []PodSet, counts map[string]int32) {
	for i := range podSets {
		n := counts[podSets[i].Name]
		if f.cfg.Behavior.ClampReclaimable {
			n = min(n, podSets[i].Count)
		}
		podSets[i].Reclaimable = max(n, 0)
	}
}

// reclaimableJob counts the pods of a batch Job whose work is over for good. It needs more than one pod at a time,
// and counts only what the remaining work can't fill.
func reclaimableJob(f *finder, o *cluster.Object, podSets []PodSet) map[string]int32 {
	job := cluster.As[*batchv1.Job](o)
	if job == nil || !f.cfg.Enabled(release.ReclaimablePods) || len(podSets) == 0 {
		return nil
	}
	parallelism := deref(job.Spec.Parallelism, 1)
	completions := deref(job.Spec.Completions, parallelism)
	over := job.Status.Succeeded
	if f.cfg.Behavior.ReclaimCompletedIndexes &&
		deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion {
		failed := ""
		if f.cfg.Behavior.ReclaimFailedIndexes {
			failed = deref(job.Status.FailedIndexes, "")
		}
		over = indexesOver(completions, job.Status.CompletedIndexes, failed)
	}
	if parallelism <= 1 || over <= 0 {
		return nil
	}
	running := parallelism
	if f.cfg.Behavior.ReclaimOfPodSet {
		running = min(parallelism, completions)
	}
	remaining := max(completions-over, 0)
	if remaining >= running {
		return nil
	}
	return map[string]int32{podSets[0].Name: running - remaining}
}

// indexesOver counts the indexes below completions that any of the lists ("0-3,7") names.
func indexesOver(completions int32, lists ...string) int32 {
	type interval struct{ first, last int }
	var all []interval
	for _, list := range lists {
		for part := range strings.SplitSeq(list, ",") {
			from, to, ranged := strings.Cut(part, "-")
			first, err := strconv.Atoi(from)
			if err != nil {
				continue
			}
			last := first
			if ranged {
				if last, err = strconv.Atoi(to); err != nil {
					continue
				}
			}
			last = min(last, int(completions)-1)
			if first <= last {
				all = append(all, interval{first, last})
			}
		}
	}
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.first, b.first) })
	count, counted := 0, -1
	for _, i := range all {
		if first := max(i.first, counted+1); first <= i.last {
			count += i.last - first + 1
			counted = i.last
		}
	}
	return int32(count)
}

// reclaimableJobSet counts the pods of succeeded Jobs of a JobSet, replicated job by replicated job.
func reclaimableJobSet(f *finder, o *cluster.Object, _ []PodSet) map[string]int32 {
	js := cluster.As[*crd.JobSet](o)
	if js == nil || !f.cfg.Enabled(release.ReclaimablePods) {
		return nil
	}
	out := map[string]int32{}
	for _, status := range js.Status.ReplicatedJobsStatus {
		addSucceeded(out, js.Spec.ReplicatedJobs, status.Name, status.Succeeded)
	}
	return out
}

func addSucceeded(out map[string]int32, jobs []crd.ReplicatedJob, name string, succeeded int32) {
	for i := range jobs {
		if jobs[i].Name == name && succeeded > 0 && succeeded <= deref(jobs[i].Replicas, 1) {
			out[podSetName(name)] = times(succeeded, podsPerJob(&jobs[i]))
		}
	}
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
