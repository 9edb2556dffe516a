package rules

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// matching finds the published devices that a request may be given. It returns nil when that can't be told: classes or
// slices are not in the input, the class does not exist, or a selector does not compile.
func matching(p *lint.Pass, q lint.DeviceRequest) *device.Match {
	if q.Class == "" || !p.Need(cluster.ResourceSlice, cluster.DeviceClass) {
		return nil
	}
	class, _, ok := cluster.Lookup[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass, "", q.Class)
	if !ok {
		return nil
	}
	first, ok1 := p.Inventory().Row(class.Spec.Selectors)
	second, ok2 := p.Inventory().Row(q.Selectors)
	if !ok1 || !ok2 {
		return nil
	}
	return p.Inventory().Match(first, second)
}

// selectorAt is the place of a request's selectors: the first expression, else the class.
func selectorAt(q lint.DeviceRequest) lint.Place {
	for i, s := range q.Selectors {
		if s.CEL != nil {
			return q.At(fmt.Sprintf("selectors[%d].cel.expression", i))
		}
	}
	return q.At("deviceClassName")
}

// certain is the severity of a finding on a request: an error where a workload was refused for it.
func certain(p *lint.Pass, q lint.DeviceRequest) lint.Severity {
	for _, field := range []string{"", "selectors", "deviceClassName"} {
		if p.Refused(q.At(field)) {
			return lint.Error
		}
	}
	return lint.Warning
}

// published are the drivers that publish slices, sorted.
func published(p *lint.Pass) []string {
	var out []string
	for _, s := range p.Inventory().Slices {
		if !slices.Contains(out, s.Object.Spec.Driver) {
			out = append(out, s.Object.Spec.Driver)
		}
	}
	slices.Sort(out)
	return out
}

// closest is the name among several that is most like a name; empty when none is alike.
func closest(name string, among []string) string {
	best, least := "", max(len(name)/3, 3)+1
	for _, other := range among {
		if d := distance(name, other); d < least || strings.HasSuffix(name, other) && best == "" ||
			sameWords(name, other) {
			best, least = other, d
		}
	}
	return best
}

// sameWords tells that a name has all words of the other: gpu.resource.nvidia.com has those of gpu.nvidia.com.
func sameWords(name, other string) bool {
	words := strings.Split(name, ".")
	for _, w := range strings.Split(other, ".") {
		if !slices.Contains(words, w) {
			return false
		}
	}
	return true
}

// distance is the number of characters to change, add or remove.
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	for j := range before {
		before[j] = j
	}
	for i := range len(a) {
		now := make([]int, len(b)+1)
		now[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(before[j]+cost, before[j+1]+1, now[j]+1)
		}
		before = now
	}
	return before[len(b)]
}

func resourceName(name string) resourcev1.QualifiedName { return resourcev1.QualifiedName(name) }
