// Package admission decides as Kueue's scheduler does: which flavors a workload gets, whether it borrows, whom it
// preempts, or why it waits, in Kueue's own words for a stated version.
//
// In go a snapshot, a configuration and the charges of all workloads. [Engine.Decide] answers for one workload what
// the next scheduling attempt would decide, given the quota reserved now. [Engine.Simulate] runs scheduling cycles
// until nothing changes, from the present state or from nothing.
//
// The rules, one file each: flavors.go (missing flavors, topology, taints, affinity), assign.go (flavor assignment and
// fungibility), mode.go (which flavor is preferred), message.go (texts), partial.go (partial admission), classical.go
// and fair.go (preemption), queue.go (order, parking), cycle.go (the scheduling cycle), order.go (who goes first in
// it), admissible.go (limits, LimitRange), gates.go (what keeps a workload out of the queue).
//
// What the input can't tell is Unknown, with the kinds that are missing. Where a version leaves a text to chance, all
// texts it may write are listed.
package admission
