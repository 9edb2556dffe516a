// Package remedy finds what would help: changes after which a workload that waits or is refused would be admitted, and
// changes after which a queue takes workloads again. Each is tried, by running the layers again on the changed objects.
//
// In: an explainer of a snapshot. Out: its explanations with remedies filled in.
package remedy
