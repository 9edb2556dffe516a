// Package cluster holds one snapshot of a cluster: typed objects, normalised to the newest API
// version, completed with the API server's defaults, indexed, each with its origin.
//
// In: the documents of package source. Out: a [Snapshot], and its [Coverage]: what the snapshot
// does not hold, so that the layers above can say "unknown" instead of guessing.
//
// Old versions are converted by the owners' own conversions (resource.k8s.io by
// k8s.io/dynamic-resource-allocation, kueue.x-k8s.io by sigs.k8s.io/kueue). The kinds of optional
// CRDs are read by the small structs of package crd.
package cluster
