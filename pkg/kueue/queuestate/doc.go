// Package queuestate says whether a ClusterQueue or a LocalQueue takes workloads, and why not. It is the one place that
// decides it: whoever charges, decides, explains or lints asks here.
//
// In: a snapshot and the configuration of Kueue. Out: a [State] with a verdict, the condition Active as Kueue would
// write it for these objects, the one that the queue reports and whether that is out of date, and the typed [Cause]s.
//
//	state.go      the verdict, from what the objects show and what the queue reports
//	objects.go    what the objects show: stop policies, flavors, topologies, admission checks
//	cause.go      the kinds of causes, Kueue's words for them in a condition, and ours for people
//	cohort.go     the way up from a cohort, and the only search for cohorts that are their own ancestors
//	localqueue.go what makes a LocalQueue inactive
//
// It mirrors Kueue's pkg/cache/scheduler (clusterQueue.updateQueueStatus and inactiveReason) and the status that
// pkg/controller/core writes of a LocalQueue.
package queuestate
