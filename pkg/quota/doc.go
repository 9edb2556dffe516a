// Package quota is the arithmetic of Kueue's cohort trees: what each ClusterQueue and Cohort owns, has lent, has
// borrowed, and could still give to a workload.
//
// In go ClusterQueues, Cohorts and the usage of each queue; out come trees of [Node]s that answer, for one flavor and
// resource, how much is available now, how much could ever be, and at which height of the tree it is borrowed; and
// [Share], the dominant resource share of fair sharing.
//
// Amounts are in the units Kueue counts in (milli for cpu, else whole units) and saturate as Kueue's do: what int64
// can't hold is [Unlimited]. Quota is shared between queues only for the same flavor and resource. A cohort exists as
// soon as a queue or another cohort names it; without a Cohort object it owns nothing and has no parent. The quota
// and the usage of a queue that takes no workloads stay in its cohort.
package quota
