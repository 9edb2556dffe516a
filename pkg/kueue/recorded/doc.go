// Package recorded reads what statuses say was charged and reserved: the admission of a Workload, the requests and the
// reclaimable pods beside it, and the usage that ClusterQueues report.
//
// In: Workloads and ClusterQueues. Out: pod sets with their flavors and quantities ([PodSets], [Held]), and the usage
// of queues ([Reserved], [Admitted]). It computes nothing of its own: what should have been charged is for package
// charge.
//
//	workload.go  status.admission, status.resourceRequests, status.reclaimablePods
//	queue.go     status.flavorsReservation, status.flavorsUsage
package recorded
