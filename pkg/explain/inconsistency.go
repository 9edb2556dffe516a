package explain

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
)

// inconsistencies names the places where the objects contradict each other or what Kueue reported.
func inconsistencies(x *Explanation) []string {
	var out []string
	c := x.Charge
	if x.Reported.Stale {
		out = append(out, fmt.Sprintf("the Workload changed after Kueue wrote %s=%s: the condition tells of an older "+
			"spec", x.Reported.Condition, x.Reported.Status))
	}
	if c.Published != nil {
		switch c.Verdict {
		case charge.Charged:
			out = append(out, repriced(c)...)
		case charge.Inadmissible:
			out = append(out, "it holds quota, but would be refused if it were evaluated now: a charge is fixed at "+
				"admission")
		}
	}
	waits := x.Reported.State == Pending || x.Reported.State == QuotaReserved || x.Reported.State == Admitted
	if waits && c.Published == nil && x.Reported.State != Pending {
		out = append(out, "its conditions say that it holds quota, but status.admission is empty")
	}
	return out
}

// repriced compares what was charged at admission with what the objects give now, for as many pods as
// were admitted where partial admission may lower their number.
func repriced(c *charge.Charge) []string {
	var out []string
	total := c.Admitted()
	for _, name := range slices.Sorted(maps.Keys(c.Published)) {
		was, err := resource.ParseQuantity(c.Published[name])
		if err != nil {
			continue
		}
		now, charged := total[name]
		switch {
		case !charged && !was.IsZero():
			out = append(out, fmt.Sprintf("it was admitted with %s of %s, which the objects now do not ask for: a "+
				"charge is fixed at admission", c.Published[name], name))
		case charged && charge.Units(name, was) != now:
			out = append(out, fmt.Sprintf("it was admitted with %s of %s, but the objects now give another charge: a "+
				"charge is fixed at admission%s",
				c.Published[name], name, fewerPods(c)))
		}
	}
	return out
}

// fewerPods says when the difference comes from an admission with fewer pods than the spec asks for.
func fewerPods(c *charge.Charge) string {
	for a := range recorded.PodSets(c.Workload.Object) {
		for _, ps := range c.PodSets {
			if ps.Name == a.Name && a.Count != nil && int64(*a.Count) != ps.Count {
				return fmt.Sprintf(" (pod set %s was admitted with %d pods and now has %d)", ps.Name, *a.Count,
					ps.Count)
			}
		}
	}
	return ""
}
