package charge

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

var (
	maxValue, minValue = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI), *resource.NewQuantity(math.MinInt64,
		resource.DecimalSI)
	maxMilli, minMilli = *resource.NewMilliQuantity(math.MaxInt64,
		resource.DecimalSI), *resource.NewMilliQuantity(math.MinInt64, resource.DecimalSI)
)

// Units converts a quantity to the units Kueue counts in: milli for cpu, else whole units, rounded up.
// What int64 cannot hold is clamped.
func Units(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return clamp(q, minMilli, maxMilli, q.MilliValue)
	}
	return integerValue(q)
}

// units is Units as a release counts: those that do not clamp let huge quantities wrap, as Go integers do.
func units(name corev1.ResourceName, q resource.Quantity, b release.Behavior) int64 {
	switch cpu := name == corev1.ResourceCPU; {
	case cpu && !b.ClampCPU:
		return q.MilliValue()
	case !cpu && !b.ClampNonCPU:
		return q.Value()
	}
	return Units(name, q)
}

// integerValue rounds up to an integer and clamps to int64.
func integerValue(q resource.Quantity) int64 { return clamp(q, minValue, maxValue, q.Value) }

func clamp(q, least, most resource.Quantity, value func() int64) int64 {
	switch {
	case q.Cmp(most) > 0:
		return math.MaxInt64
	case q.Cmp(least) < 0:
		return math.MinInt64
	}
	return value()
}

// Add is a+b, clamped to int64.
func Add(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// Subtract is a-b, clamped to int64.
func Subtract(a, b int64) int64 {
	if b == math.MinInt64 {
		return Add(Add(a, math.MaxInt64), 1)
	}
	return Add(a, -b)
}

// add adds, saturating or wrapping.
func add(a, b int64, saturate bool) int64 {
	if saturate {
		return Add(a, b)
	}
	return a + b
}

// multiply multiplies, saturating or wrapping.
func multiply(a, b int64, saturate bool) int64 {
	if !saturate || a == 0 || b == 0 {
		return a * b
	}
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case high != 0 || low > math.MaxInt64:
		if negative {
			return math.MinInt64
		}
		return math.MaxInt64
	case negative:
		return -int64(low)
	}
	return int64(low)
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return uint64(-(a + 1)) + 1
	}
	return uint64(a)
}

// sortFNV sorts names as Kueue's vectorised requests do: by the FNV-1a-64 hash, then by name.
func sortFNV(names []string) {
	hash := func(s string) uint64 {
		h := fnv.New64a()
		h.Write([]byte(s))
		return h.Sum64()
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b)) })
}

// SortResources sorts names in the order in which a release walks the resources of a pod set; an arbitrary order is
// taken by name.
func SortResources(names []corev1.ResourceName, order release.ResourceOrder) {
	if order != release.FNV64a {
		slices.Sort(names)
		return
	}
	plain := make([]string, len(names))
	for i, n := range names {
		plain[i] = string(n)
	}
	sortFNV(plain)
	for i, n := range plain {
		names[i] = corev1.ResourceName(n)
	}
}
