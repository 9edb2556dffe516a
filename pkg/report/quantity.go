package report

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
)

// Units prints amounts of resources as Kueue does.
type Units struct{ charge.Formatter }

// rank orders resources for people: what accelerators are charged in first, then cpu, memory and the rest.
func rank(name corev1.ResourceName) int {
	switch {
	case name == corev1.ResourceCPU:
		return 1
	case name == corev1.ResourceMemory:
		return 2
	case name == corev1.ResourceEphemeralStorage:
		return 3
	case strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		return 4
	case name == corev1.ResourcePods:
		return 5
	}
	return 0
}
