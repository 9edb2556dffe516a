// Package controlplane builds and runs a real control plane on loopback: etcd, kube-apiserver, where a test
// needs them kube-controller-manager and kube-scheduler, and Kueue's own manager with its CRDs, conversion
// and admission webhooks.
//
// In: the versions in this module's go.mod, a Kueue Configuration. Out: kubeconfigs for users, the audit log
// of everything they sent, and the objects the controllers wrote.
//
// Every program is built from the Go module proxy, once, into the user's cache directory. All ports are free
// ones of 127.0.0.1, and all files lie below a temporary directory that is removed at the end. There is no
// container runtime: nodes and the status of pods are objects that a test writes.
package controlplane
