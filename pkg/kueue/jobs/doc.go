// Package jobs is the register of the kinds of jobs that Kueue has an integration for: one row for each, with
// what every other package needs to know of the kind as such.
//
// In: nothing. Out: rows of type [Kind], in the order in which Kueue's integrations are looked at. Derived from
// them are the kinds a snapshot decodes, the integrations of a configuration and of the OpenShift operator, the
// names people type, what is read of a live cluster, the roles in plugins/rbac, and the fields that a dump leaves out.
// How a kind becomes pod sets stands in package workload.
package jobs
