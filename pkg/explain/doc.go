// Package explain says where a workload stands and why, and how a queue stands.
//
// In: a charge.Charge, the cluster.Snapshot it was made from, the config.Config and the admission.Engine over all
// charges. Out: an [Explanation]: what Kueue reported (reported.go), the messages of its conditions in plain words
// (meaning.go, a table of patterns for the wording of old and new releases), what the next scheduling attempt would
// decide and whether that agrees (agreement.go), the way to admission step by step (steps.go), the quota that is too
// small and who holds it (quota.go), changes that would admit it, each tried (remedy*.go), and the places where the
// objects contradict each other (inconsistency.go). Workloads that are alike share what holds for all of them
// (alike.go).
//
// Or a [Queue]: whether a ClusterQueue or LocalQueue is active (package queuestate), who waits in it, and what
// the first waits for (queue.go).
package explain
