// Package contest sets the program against Kueue on one cluster, and makes a cluster on which they differ small.
package contest
