package queuestate

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Kueue's reasons and words about a LocalQueue.
const (
	localQueueReady    = "Can submit new workloads to localQueue"
	localQueueStopped  = "LocalQueue is stopped"
	localQueueInactive = "Can't submit new workloads to clusterQueue"

	reasonStopped       = "Stopped"
	reasonQueueNotFound = "ClusterQueueDoesNotExist"
	reasonQueueInactive = "ClusterQueueIsInactive"
)

// LocalQueue is the state of a LocalQueue; nil when it is not in the input.
func (q *Queues) LocalQueue(namespace, name string) *State {
	lq, record, ok := cluster.Lookup[*kueue.LocalQueue](q.snap, cluster.LocalQueue, namespace, name)
	if !ok {
		return nil
	}
	queue := string(lq.Spec.ClusterQueue)
	s := &State{Of: q.ClusterQueue(queue)}
	s.report(record, lq.Status.Conditions)
	inactive := func(message, reason string, c Cause) {
		s.Causes = append(s.Causes, c)
		s.Predicted = Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	field, value := q.LacksClusterQueue(record)
	switch p := ptr.Deref(lq.Spec.StopPolicy, kueue.None); {
	case p != kueue.None:
		inactive(localQueueStopped, reasonStopped, Cause{Kind: Stopped, Path: "spec.stopPolicy", Value: string(p)})
	case s.Of == nil && field != "":
		inactive(localQueueInactive, reasonQueueNotFound,
			Cause{Kind: ClusterQueueNotFound, Names: []string{queue}, Path: field, Value: value})
	case s.Of == nil:
		s.Predicted = Condition{Status: metav1.ConditionUnknown, Missing: []string{cluster.ClusterQueue.Kind}}
	case s.Of.Inactive():
		inactive(localQueueInactive, reasonQueueInactive,
			Cause{Kind: ClusterQueueInactive, Names: []string{queue}, Path: "spec.clusterQueue"})
	case s.Of.Verdict == metav1.ConditionTrue:
		s.Predicted = Condition{Status: metav1.ConditionTrue, Reason: readyReason, Message: localQueueReady}
	default:
		s.Predicted = Condition{Status: metav1.ConditionUnknown, Missing: s.Of.Predicted.Missing}
	}
	s.OutOfDate = s.Reported != nil && q.snap.Supposed && s.Predicted.Status == metav1.ConditionTrue
	s.decide()
	return s
}

// LacksClusterQueue names the field of a LocalQueue that shows that its ClusterQueue, which is not in the input, does
// not exist, with what it says: the reference, where the input holds ClusterQueues, or else what Kueue has written
// about it. It is empty when the input can't tell.
func (q *Queues) LacksClusterQueue(record *cluster.Object) (field, value string) {
	lq := cluster.As[*kueue.LocalQueue](record)
	if lq == nil || q.snap.Get(cluster.ClusterQueue, "", string(lq.Spec.ClusterQueue)) != nil {
		return "", ""
	}
	if q.snap.Coverage.Has(cluster.ClusterQueue) {
		return "spec.clusterQueue", string(lq.Spec.ClusterQueue)
	}
	active := apimeta.FindStatusCondition(lq.Status.Conditions, kueue.LocalQueueActive)
	if record.Laid || active == nil || active.Status != metav1.ConditionFalse || active.Reason != reasonQueueNotFound {
		return "", ""
	}
	return "status.conditions", active.Type + "=" + string(active.Status) + " (" + active.Reason + ")"
}
