// Package charge says what a workload is charged against quota, by which path, and why.
//
// In: workloads, the Kueue configuration and the device inventory. Out: a [Charge] per workload with
// every number's derivation and evidence, or the reason for which Kueue refuses it, in Kueue's words.
//
// One file per path, in the order Kueue takes them: count.go (device counts of claim templates),
// extended.go (extended resources backed by a DeviceClass), counter.go, capacity.go; merge.go adds
// them to the ordinary requests.
package charge
