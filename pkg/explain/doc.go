// Package explain says where a workload stands and why.
//
// In: a charge.Charge, the cluster.Snapshot it was made from and the kueueconf.Config. Out: an
// [Explanation]: what Kueue reported (reported.go), the messages of its conditions in plain words
// (meaning.go, a table of patterns for the wording of old and new releases), the way to admission
// step by step (steps.go), a comparison with the queue's own nominal quota (quota.go), and the
// places where the objects contradict each other (inconsistency.go).
//
// What the next scheduling attempt would decide is not computed here: Predicted is Unknown, and
// nothing is claimed that depends on borrowing, preemption or the order of the queue.
package explain
