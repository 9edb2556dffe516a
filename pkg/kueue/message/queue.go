package message

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"

// Messages about the queue of a workload.
const (
	NoLocalQueue            Code = "NoLocalQueue"
	LocalQueueNotFound      Code = "LocalQueueNotFound"
	LocalQueueInactive      Code = "LocalQueueInactive"
	LocalQueueStopped       Code = "LocalQueueStopped"
	LocalQueueGone          Code = "LocalQueueGone"
	LocalQueueDrained       Code = "LocalQueueDrained"
	ClusterQueueNotFound    Code = "ClusterQueueNotFound"
	ClusterQueueInactive    Code = "ClusterQueueInactive"
	ClusterQueueStopped     Code = "ClusterQueueStopped"
	ClusterQueueGone        Code = "ClusterQueueGone"
	ClusterQueueDrained     Code = "ClusterQueueDrained"
	NamespaceMismatch       Code = "NamespaceMismatch"
	namespaceMismatchCapped Code = "NamespaceMismatchCapped"
)

const doesNotSelect = `the ClusterQueue's namespaceSelector does not select its namespace`

// ofQueues mirrors getQueueBlocker of Kueue's workload controller and the checks of nominate in its scheduler.
var ofQueues = []form{
	{NoLocalQueue, `LocalQueue  doesn't exist`,
		`it names no LocalQueue; set the label kueue.x-k8s.io/queue-name on the job`},
	{LocalQueueNotFound, `LocalQueue {queue} doesn't exist`, `its namespace has no LocalQueue {queue}`},
	{LocalQueueInactive, `LocalQueue {queue} is inactive`,
		`LocalQueue {queue} is stopped, or its ClusterQueue cannot admit`},
	{LocalQueueStopped, `LocalQueue {queue} is stopped`, `LocalQueue {queue} was stopped (spec.stopPolicy)`},
	{LocalQueueGone, `LocalQueue {queue} is terminating or missing`, `LocalQueue {queue} is being deleted or is gone`},
	{ClusterQueueNotFound, `ClusterQueue {queue} doesn't exist`, `there is no ClusterQueue {queue}`},
	{ClusterQueueNotFound, `ClusterQueue {queue} not found`, `there is no ClusterQueue {queue}`},
	{ClusterQueueInactive, `ClusterQueue {queue} is inactive`,
		`ClusterQueue {queue} admits nothing now: it is stopped, or a flavor or admission check it names is missing`},
	{ClusterQueueStopped, `ClusterQueue {queue} is stopped`, `ClusterQueue {queue} was stopped (spec.stopPolicy)`},
	{ClusterQueueGone, `ClusterQueue {queue} is terminating or missing`,
		`ClusterQueue {queue} is being deleted or is gone`},
	{ClusterQueueDrained, `The ClusterQueue is stopped`, `its ClusterQueue was stopped and drained (spec.stopPolicy)`},
	{LocalQueueDrained, `The LocalQueue is stopped`, `its LocalQueue was stopped and drained (spec.stopPolicy)`},
	{NamespaceMismatch, `workload namespace doesn't match ClusterQueue selector`, doesNotSelect},
	{namespaceMismatchCapped, `Workload namespace doesn't match ClusterQueue selector`, doesNotSelect},
}

// Mismatch is the message of a release that the ClusterQueue does not take workloads of the namespace.
func Mismatch(b *release.Behavior) Message {
	if b.NamespaceMsgLower {
		return Of(NamespaceMismatch)
	}
	return Of(namespaceMismatchCapped)
}

// IsMismatch tells that it is the code of [Mismatch] of some release.
func (c Code) IsMismatch() bool { return c == NamespaceMismatch || c == namespaceMismatchCapped }
