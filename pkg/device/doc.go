// Package device holds the device inventory of a snapshot and matches devices by CEL selectors.
//
// In: the ResourceSlices and DeviceClasses of a cluster.Snapshot. Out: an [Inventory] of pools and
// devices, and for a set of selectors a [Match]: which devices they take, and on which they fail.
//
// It implements how Kueue looks at devices: every slice for the satisfiability of claim selectors,
// only complete pools of the newest generation for counters and capacity, no node selection, no
// taints, no allocations.
//
// How the scheduler looks at them is another matter: a [Stock] is the inventory with what claims hold of
// it ([Allocations]), with taints, and with what is left of the counters that partitions share.
//
// CEL is evaluated once per distinct device shape and expression, never per device: devices that
// agree in everything the expressions can see are one shape.
package device
