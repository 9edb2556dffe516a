package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

const (
	mainPodSet       = "main"
	minParallelism   = "kueue.x-k8s.io/job-min-parallelism"
	jobStopping      = "kueue.x-k8s.io/stopping"
	templatePath     = "spec.template"
	equalCompletions = "kueue.x-k8s.io/job-completions-equal-parallelism"
)

// jobKind is batch/v1 Job: one pod set of as many pods as run at a time.
var jobKind = &kind{
	Kind: jobs.Job, elastic: true,
	podSets: jobPodSets, suspended: jobSuspended, ended: jobEnded, reclaimable: reclaimableJob,
	refuse: refuseJob,
}

func jobPodSets(f *finder, o *cluster.Object) shape {
	job := cluster.As[*batchv1.Job](o)
	if job == nil {
		return unreadable(o)
	}
	ps := PodSet{
		Name: mainPodSet, Count: podsAtATime(job.Spec.Parallelism, job.Spec.Completions),
		Template: &job.Spec.Template, Source: o, Path: templatePath,
	}
	// A number that can't be read is as good as none.
	if n, err := strconv.Atoi(job.Annotations[minParallelism]); err == nil && f.cfg.Enabled(release.PartialAdmission) {
		least := int32(min(n, math.MaxInt32))
		ps.MinCount = &least
	}
	return shape{podSets: []PodSet{ps}}
}

// podsAtATime is the smaller of parallelism (1 when unset) and completions (when set).
func podsAtATime(parallelism, completions *int32) int32 {
	n := deref(parallelism, 1)
	return min(n, deref(completions, n))
}

func jobSuspended(o *cluster.Object) bool {
	job := cluster.As[*batchv1.Job](o)
	return job != nil && deref(job.Spec.Suspend, false) && job.Annotations[jobStopping] != "true"
}

func jobEnded(o *cluster.Object) bool {
	job := cluster.As[*batchv1.Job](o)
	if job == nil {
		return false
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// conditionTrue tells that one of the condition types is True.
func conditionTrue(conditions []metav1.Condition, types ...string) bool {
	for _, c := range conditions {
		for _, t := range types {
			if c.Type == t && c.Status == metav1.ConditionTrue {
				return true
			}
		}
	}
	return false
}

// unreadable is the shape of an object that is not of the type of its kind.
func unreadable(o *cluster.Object) shape {
	return broken(reason(NoPodSets, o.Ref.Kind+" can't be read.", o, ""))
}

// broken is the shape of an object of which Kueue can make no pod sets.
func broken(r Reason) shape { return shape{problem: &r} }

// podSetName is how Kueue writes the name of a pod set.
func podSetName(name string) string { return strings.ToLower(name) }

// times multiplies counts; a product beyond the largest count stays there.
func times(a, b int32) int32 {
	product := int64(a) * int64(b)
	return int32(max(min(product, math.MaxInt32), math.MinInt32))
}

// refuseJob checks what the webhook checks of partial admission. It does so for every Job, labelled or not.
func refuseJob(f *finder, o *cluster.Object, _ bool) string {
	job := cluster.As[*batchv1.Job](o)
	if job == nil {
		return ""
	}
	if text, ok := job.Annotations[minParallelism]; ok {
		path := "metadata.annotations[" + minParallelism + "]"
		count := podsAtATime(job.Spec.Parallelism, job.Spec.Completions)
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return fmt.Sprintf("%s: Invalid value: %q: %v", path, text, err)
		case n <= 0 || int32(n) >= count:
			return fmt.Sprintf("%s: Invalid value: %d: should be between 0 and %d", path, n, count-1)
		case f.elastic(jobTraits, o):
			return fmt.Sprintf("%s: Invalid value: %q: partial admission and elastic job cannot be used together", path,
				text)
		}
	}
	return refuseEqualCompletions(job)
}

var jobTraits = &kind{Kind: jobs.Job, elastic: true}

func refuseEqualCompletions(job *batchv1.Job) string {
	text, ok := job.Annotations[equalCompletions]
	if !ok {
		return ""
	}
	path := "metadata.annotations[" + equalCompletions + "]"
	on, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: Invalid value: %q: %v", path, text, err)
	case !on:
		return ""
	case deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.NonIndexedCompletion:
		return fmt.Sprintf("%s: Invalid value: %q: should not be enabled for NonIndexed jobs", path, text)
	case deref(job.Spec.Parallelism, 1) != deref(job.Spec.Completions, 1):
		return fmt.Sprintf("spec.completions: Invalid value: %d: should be equal to parallelism when %s annotation "+
			"is true",
			deref(job.Spec.Completions, 1), equalCompletions)
	}
	return ""
}
