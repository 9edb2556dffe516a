// Package generate makes random clusters for comparison: the same seed gives the same cluster.
//
// The objects are such as the API server and Kueue's webhooks admit, with the fields they default filled in.
// Amounts are small and times mostly distinct, so that decisions are close calls but seldom ties.
package generate
