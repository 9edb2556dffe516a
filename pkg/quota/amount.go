package quota

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a quantity of one resource in the units Kueue counts in: milli for cpu, else whole units. It may be
// negative. Arithmetic saturates; [Unlimited] stays unlimited.
type Amount int64

// Unlimited is a quota that int64 can't hold. Nothing bounded reaches it but by saturation.
const Unlimited Amount = math.MaxInt64

var (
	mostCores = *resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)
	mostUnits = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
)

// AmountOf converts a quota as written in a queue; quotas beyond int64 are unlimited.
func AmountOf(name corev1.ResourceName, q resource.Quantity) Amount {
	switch {
	case name == corev1.ResourceCPU && q.Cmp(mostCores) >= 0, q.Cmp(mostUnits) >= 0:
		return Unlimited
	case name == corev1.ResourceCPU:
		return Amount(q.MilliValue())
	}
	return Amount(q.Value())
}

// Add is a+b.
func (a Amount) Add(b Amount) Amount {
	if a == Unlimited || b == Unlimited {
		return Unlimited
	}
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// Sub is a-b. Unlimited less anything bounded is unlimited, less Unlimited it is nothing; a bounded amount less
// Unlimited is the least there is.
func (a Amount) Sub(b Amount) Amount {
	switch {
	case a == Unlimited && b == Unlimited:
		return 0
	case a == Unlimited:
		return Unlimited
	case b == Unlimited:
		return math.MinInt64
	case b == math.MinInt64:
		if a >= 0 {
			return math.MaxInt64
		}
		return a - b
	}
	return a.Add(-b)
}
