// Package reference asks the real Kueue: it runs Kueue's own caches, queue manager, scheduler and Workload
// controller over a cluster, one scheduling cycle at a time, and records what they decide.
//
// Nothing of Kueue is reimplemented. What surrounds it in a cluster is: the API server (a [store]), the
// delivery of watch events (after each cycle, until none is left), the job controllers (an evicted Workload
// with an owner gives up its reservation at once), and time (a second passes with each cycle). README.md
// says why the result is what a cluster settles on.
package reference
