package charge

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Formatter prints amounts of resources as Kueue does.
type Formatter struct {
	// Binary tells of a resource mapped by a counter or capacity source: it prints in Ki, Mi, Gi.
	// May be nil.
	Binary func(corev1.ResourceName) bool
}

// Format prints an amount in units of the resource: milli for cpu, else the integer value.
//
// cpu prints as a decimal of milli; memory, ephemeral-storage, hugepages and the resources of
// [Formatter.Binary] in binary units; everything else as a decimal integer. What has no binary unit, because it is no
// multiple of 1024, prints as a decimal: Kueue reads the text that it gave to such an amount once more, and without
// a unit it is a decimal then.
func (f Formatter) Format(name corev1.ResourceName, amount int64) string {
	switch {
	case name == corev1.ResourceCPU:
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	case f.binary(name) && amount%1024 == 0:
		return resource.NewQuantity(amount, resource.BinarySI).String()
	}
	return resource.NewQuantity(amount, resource.DecimalSI).String()
}

func (f Formatter) binary(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) || f.Binary != nil && f.Binary(name)
}
