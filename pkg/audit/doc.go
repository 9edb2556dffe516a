// Package audit sets what a cluster has, what its quotas say, what workloads hold, and what the charge engine and the
// allocations of claims say of them against each other, in one ledger whose rows add up.
//
// In: the charges of a snapshot, the inventory of devices, and the findings of lint. Out: a [Report], a plain value,
// which package report prints. What the input does not tell is a cell that is not known, with what would tell it; where
// two columns differ, the difference is the sum of the differences of workloads that are named.
package audit
