package fit

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// noMatch says which selector leaves too few devices.
func (n *tally) noMatch(r request) string {
	if n.Class == 0 {
		return fmt.Sprintf("DeviceClass %s matches none of %s", r.class, plural(n.Published, "device"))
	}
	before := n.Class
	for i, left := range n.Selectors {
		if left == 0 && r.selectors[i].CEL != nil {
			return fmt.Sprintf("selector %d matches none of the %s that DeviceClass %s%s: %s", i+1,
				plural(before, "device"), r.class, afterOthers(i), r.selectors[i].CEL.Expression)
		}
		before = left
	}
	return fmt.Sprintf("%d of %d devices match, %s needed", n.Matched(), n.Published, areNeeded(n.Needed))
}

func afterOthers(i int) string {
	if i == 0 {
		return " matches"
	}
	return " and the selectors before match"
}

// causes says what becomes of the devices that match, and which is the commonest cause.
func (n *tally) causes() (Code, string) {
	causes := []struct {
		code  Code
		count int
		text  string
	}{
		{PoolUnusable, n.Unusable, "%d can't be used (" + escape(n.problem) + ")"},
		{Allocated, n.Held, "%d held by claims"},
		{Allocated, n.Own, "%d given to earlier pods of the workload"},
		{Tainted, n.Tainted, "%d tainted " + escape(n.taint)},
		{Counters, n.Short, "%d short of counters"},
		{Capacity, n.Capacity, "%d with too little capacity left"},
	}
	if n.shortage != nil {
		causes[4].text += " (" + escape(n.shortage.String()) + ")"
	}
	code, most := Together, 0
	var parts []string
	for _, c := range causes {
		if c.count == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf(c.text, c.count))
		if c.count > most {
			code, most = c.code, c.count
		}
	}
	return code, fmt.Sprintf("%d of %d devices match; %d can be had, %s needed: %s",
		n.Matched(), n.Published, n.Eligible, areNeeded(n.Needed), strings.Join(parts, ", "))
}

func areNeeded(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func escape(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// consumed is what shares take of a device's capacity, those of earlier pods included.
func (w *world) consumed(id device.ID, name resourcev1.QualifiedName) resource.Quantity {
	if q := w.state.AggregatedCapacity[structured.MakeDeviceID(id.Driver, id.Pool, id.Device)][name]; q != nil {
		return *q
	}
	return resource.Quantity{}
}
