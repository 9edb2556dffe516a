package queuestate

import (
	"slices"
	"strings"
	"sync"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// Condition is the condition Active of a queue, as Kueue would write it for the objects of the input.
type Condition struct {
	// Status is True, False, or Unknown where the input does not tell.
	Status metav1.ConditionStatus
	// Reason and Message in Kueue's words; empty where the status is certain and they are not.
	Reason, Message string
	// Missing lists the kinds without which the status is not known.
	Missing []string
}

// State is whether a queue takes workloads.
type State struct {
	// Verdict is True when it does, False when it does not, and Unknown where the input does not tell.
	Verdict metav1.ConditionStatus
	// Predicted is the condition Active for the objects of the input.
	Predicted Condition
	// Reported is the condition that the queue holds; nil when the input has none. OutOfDate tells that it is about
	// objects that are no longer as it says.
	Reported  *metav1.Condition
	OutOfDate bool
	// Causes of an inactive queue, the one that decides first.
	Causes []Cause
	// Of is the ClusterQueue of a LocalQueue; nil when it is not in the input.
	Of *State
}

// Inactive tells that the queue certainly takes no workloads. It is false of a queue that is not in the input.
func (s *State) Inactive() bool { return s != nil && s.Verdict == metav1.ConditionFalse }

// Cause is what decides that the queue is inactive; nil when it is not.
func (s *State) Cause() *Cause {
	if !s.Inactive() || len(s.Causes) == 0 {
		return nil
	}
	return &s.Causes[0]
}

// Has tells that a cause of the kind is among those of an inactive queue.
func (s *State) Has(kind CauseKind) bool { return s != nil && len(only(s.Causes, kind)) > 0 }

// Queues says of the queues of one snapshot whether they take workloads. It is safe for concurrent use.
type Queues struct {
	snap *cluster.Snapshot
	conf *config.Config

	mu sync.Mutex
	of map[string]*State
}

// New prepares the answers for a snapshot.
func New(snap *cluster.Snapshot, conf *config.Config) *Queues {
	return &Queues{snap: snap, conf: conf, of: map[string]*State{}}
}

// ClusterQueue is the state of a ClusterQueue; nil when it is not in the input.
func (q *Queues) ClusterQueue(name string) *State {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, known := q.of[name]
	if !known {
		if cq, record, ok := cluster.Lookup[*kueue.ClusterQueue](q.snap, cluster.ClusterQueue, "", name); ok {
			s = q.clusterQueue(cq, record)
		}
		q.of[name] = s
	}
	return s
}

func (q *Queues) clusterQueue(cq *kueue.ClusterQueue, record *cluster.Object) *State {
	s := &State{}
	var missing []string
	s.Causes, missing = q.objects(cq)
	s.Predicted = predicted(s.Causes, missing)
	s.report(record, cq.Status.Conditions)
	s.OutOfDate = s.Reported != nil && q.outOfDate(s)
	s.decide()
	return s
}

// predicted is the condition of a ClusterQueue for what the objects show.
func predicted(causes []Cause, missing []string) Condition {
	told := slices.ContainsFunc(causes, func(c Cause) bool { return c.Kind != CohortCycle })
	switch {
	case len(causes) > 0 && causes[0].Kind == Terminating:
		return Condition{Status: metav1.ConditionFalse, Reason: kueue.ClusterQueueActiveReasonTerminating,
			Message: clusterQueueGoing}
	case told && len(missing) > 0:
		// That it is inactive is certain; what else Kueue would name is not.
		reason, _ := condition(causes)
		return Condition{Status: metav1.ConditionFalse, Reason: reason, Missing: missing}
	case len(missing) > 0:
		return Condition{Status: metav1.ConditionUnknown, Missing: missing}
	}
	c := Condition{Status: metav1.ConditionTrue}
	if len(causes) > 0 {
		c.Status = metav1.ConditionFalse
	}
	c.Reason, c.Message = condition(causes)
	return c
}

// report notes what the queue says of itself. A manifest says nothing about a cluster.
func (s *State) report(record *cluster.Object, conditions []metav1.Condition) {
	if !record.Laid {
		s.Reported = apimeta.FindStatusCondition(conditions, kueue.ClusterQueueActive)
	}
}

// decide weighs what the objects show and what the queue reports. What the objects show counts first; a report of
// inactivity counts where they show nothing, for its cause may be outside of the input.
func (s *State) decide() {
	closed := s.Reported != nil && s.Reported.Status == metav1.ConditionFalse && !s.OutOfDate
	if closed {
		says := Cause{Kind: Reported, Path: "status.conditions", Value: s.Reported.Reason + ": " + s.Reported.Message}
		at := 0
		if len(s.Causes) > 0 && (s.Causes[0].Kind == Stopped || s.Causes[0].Kind == Terminating) {
			at = 1
		}
		s.Causes = slices.Insert(s.Causes, at, says)
	}
	switch {
	case len(s.Causes) > 0:
		s.Verdict = metav1.ConditionFalse
	case s.Predicted.Status == metav1.ConditionTrue, s.Reported != nil && s.Reported.Status == metav1.ConditionTrue:
		s.Verdict = metav1.ConditionTrue
	default:
		s.Verdict = metav1.ConditionUnknown
	}
}

// shownBy are the reasons of a report that other objects show, with the kind that has to be in the input.
var shownBy = map[string]schema.GroupKind{
	kueue.ClusterQueueActiveReasonStopped:                cluster.ClusterQueue,
	kueue.ClusterQueueActiveReasonFlavorNotFound:         cluster.ResourceFlavor,
	kueue.ClusterQueueActiveReasonAdmissionCheckNotFound: cluster.AdmissionCheck,
	kueue.ClusterQueueActiveReasonAdmissionCheckInactive: cluster.AdmissionCheck,
	readyReason: cluster.Cohort, // of a queue below a cycle of cohorts
}

// outOfDate tells that a report may be of the cluster as it is, where one is looked at as it might be, and that the
// objects show all that it is about: nothing is against the queue, or the kind of its one reason is there.
func (q *Queues) outOfDate(s *State) bool {
	if !q.snap.Supposed {
		return false
	}
	if s.Predicted.Status == metav1.ConditionTrue {
		return true
	}
	kind, known := shownBy[s.Reported.Reason]
	return known && q.snap.Coverage.Has(kind) && !strings.Contains(s.Reported.Message, ", ")
}
