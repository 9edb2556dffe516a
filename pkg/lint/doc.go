// Package lint checks manifests, dumps and clusters against rules, and says where exactly each finding stands.
//
// In: a cluster.Snapshot, the config.Config and the raw documents ([Input]), and the rules to apply (package
// rules holds the program's own). Out: a [Result]: findings in the order of their places, and the rules that could
// not be evaluated, with the kinds that are missing.
//
// A [Rule] is data and one function. The function sees the input through a [Pass], which offers what the layers
// above know (workloads, charges, inventory), computed once and shared by all rules. Rules read from these layers
// and do not repeat their logic: a refusal that package charge finds is reported, not found again.
//
// Rules run apart: one that panics or takes too long becomes a finding about the rule, and the others go on.
package lint
