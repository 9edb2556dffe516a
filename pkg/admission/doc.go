// Package admission decides as Kueue's scheduler does: which flavors a workload gets, whether it borrows, whom it
// preempts, or why it waits, in Kueue's own words for a stated version.
//
// In go a snapshot, a configuration and the charges of all workloads. [Engine.Decide] answers for one workload what
// the next scheduling attempt would decide, given the quota reserved now. [Engine.Simulate] runs scheduling cycles
// until nothing changes, from the present state or from nothing.
//
// The files, by prefix: state (what is there), flavor (flavor assignment), preempt (whom to preempt), queue (what
// waits, in which order), cycle (scheduling cycles), chance (what Kueue leaves to chance). The head of each names what
// it mirrors.
//
//   - engine.go: the engine and the state it works on; the door for other packages
//   - decide.go: what the next attempt would decide about one workload
//   - decision.go: the answers
//   - whatif.go: answers after a change
//   - undecided.go: what Kueue decides and this program does not, and what follows from that
//   - message.go: texts and reasons
//   - state_scheduler.go: all there is: queues, workloads, settings
//   - state_queue.go: ClusterQueues, their resource groups and flavors
//   - state_workload.go: workloads, and what they ask for
//   - state_build.go: how a workload is built from the input
//   - state_gates.go: what keeps a workload out of its queue, or its decision unknown
//   - state_requests.go: limits and LimitRanges
//   - state_hash.go: workloads the scheduler treats alike
//   - state_alike.go: workloads that share their answers
//   - state_reservations.go: who holds quota
//   - state_tree.go: the trees of queues and cohorts, and who lends to whom
//   - state_unaccounted.go: quota that queues report and no Workload holds
//   - flavor_assign.go: flavors for all pod sets of a workload
//   - flavor_find.go: one flavor of a resource group
//   - flavor_match.go: whether a flavor takes the pods: topology, taints, affinity
//   - flavor_mode.go: which flavor is preferred
//   - flavor_partial.go: fewer pods
//   - flavor_unknown_usage.go: what is certain whatever others use
//   - preempt_targets.go: whom to preempt: what both kinds of search share
//   - preempt_classical.go: preemption by priority
//   - preempt_fair.go: preemption by shares
//   - preempt_fair_order.go: whose share is largest
//   - preempt_holders.go: whose quota a workload could use, and what forbids to preempt it
//   - queue_pending.go: what waits in a ClusterQueue
//   - queue_usage.go: the order by what LocalQueues used
//   - queue_position.go: the place of a workload among those that wait
//   - queue_views.go: who waits outside of a queue, who leaves it, what LocalQueues hold
//   - cycle_schedule.go: one scheduling cycle
//   - cycle_order.go: who goes first in it
//   - cycle_reserve.go: what is kept for those that wait for quota
//   - cycle_run.go: cycles until nothing changes
//   - cycle_outcome.go: what becomes of those a cycle tried
//   - cycle_simulation.go: simulations and replays
//   - cycle_preemption_loop.go: preemption that goes round in circles
//   - cycle_cut_short.go: pod sets that the assigner never looks at
//   - chance_conditions.go: what conditions may say where a scan of flavors begins anew by chance
//   - chance_supposed.go: what a simulation supposes where chance decides
//   - chance_scan_ends.go: scans that end by chance
//   - chance_equal_shares.go: cohorts with equal shares
//
// What the input can't say is Unknown, with the kinds that are missing. Where a version leaves a text to chance, all
// texts it may write are listed.
package admission
