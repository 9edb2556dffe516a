// Package objects holds a cluster as typed objects, in order, and reads and writes it as the List that
// `kubectl get -o yaml` and the program under test use.
package objects
