// Package fit tells whether the pods of a workload can get the devices they claim, now.
//
// In: a workload, the inventory of devices with what claims hold of it, and the nodes. Out: a [Result]:
// where the pods would get which devices, or on which nodes they are refused and why.
//
// Whether claims can be satisfied on a node is asked of the scheduler's own allocator
// (k8s.io/dynamic-resource-allocation/structured), pod after pod, each taking what the ones before it
// left. The allocator gives no reason for a refusal; the diagnosis is made here, by counting at every
// step of its rules how many devices are left: published, in pools that serve, matched by each
// selector, held by nobody, without a taint, with enough left of the counters they consume.
//
// Of the nodes only selectors, affinity and taints count, since they decide where claims can go; not
// cpu, memory, or anything else the scheduler looks at.
package fit
