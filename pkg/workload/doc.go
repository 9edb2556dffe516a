// Package workload finds the workloads of a snapshot and says what each asks for.
//
// In: a cluster.Snapshot and the config.Config. Out: one [Workload] per Workload object and per
// job that has (or would get) one: its name, queue, priority, pod sets with counts and pod
// templates, whether Kueue manages it, and for every pod set the ordinary resource requests.
//
// It implements the rules of the semantics document: which kinds make workloads and how many pods
// they have (one file per kind), who is managed, owner de-duplication, workload names, reclaimable
// pods, and the request pipeline (overhead, LimitRange, limits as requests, pod requests,
// exclusions, transformations).
package workload
