package fit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// combined says why requests can't be satisfied together that can be one by one: for a constraint, where the claims can
// be allocated without it, else because they want the same devices or counters.
func (w *world) combined(ctx context.Context, of []*ask, claims []*resourcev1.ResourceClaim, node *corev1.Node,
	units []located) (*Reason, error) {
	for i, claim := range claims {
		for k := range claim.Spec.Devices.Constraints {
			without := slices.Clone(claims)
			without[i] = lifted(claim, func(j int) bool { return j == k })
			results, _, err := w.allocate(ctx, node, without)
			if err != nil {
				return nil, err
			}
			if results != nil {
				return w.constraint(of[i], &claim.Spec.Devices.Constraints[k], units), nil
			}
		}
		if len(claim.Spec.Devices.Constraints) < 2 {
			continue
		}
		without := slices.Clone(claims)
		without[i] = lifted(claim, func(int) bool { return true })
		results, _, err := w.allocate(ctx, node, without)
		if err != nil {
			return nil, err
		}
		if results != nil {
			return &Reason{Code: Constraint, Claim: of[i].name, Text: "no choice of devices meets the constraints of " +
				"the claim"}, nil
		}
	}
	text := "each request finds enough devices, but not all of them at once"
	if slices.ContainsFunc(units, func(u located) bool { return len(u.Device().ConsumesCounters) > 0 }) {
		text += ": those that match take each other's counters"
	}
	return &Reason{Code: Together, Text: text}, nil
}

// lifted is a claim without some of its constraints.
func lifted(claim *resourcev1.ResourceClaim, drop func(int) bool) *resourcev1.ResourceClaim {
	out := *claim
	out.Spec.Devices.Constraints = nil
	for i, c := range claim.Spec.Devices.Constraints {
		if !drop(i) {
			out.Spec.Devices.Constraints = append(out.Spec.Devices.Constraints, c)
		}
	}
	return &out
}

// constraint says how the devices that could be had differ in the attribute.
func (w *world) constraint(a *ask, c *resourcev1.DeviceConstraint, units []located) *Reason {
	kind, attribute := "matchAttribute", c.MatchAttribute
	if attribute == nil {
		kind, attribute = "distinctAttribute", c.DistinctAttribute
	}
	out := &Reason{Code: Constraint, Claim: a.name}
	if attribute == nil {
		out.Text = "no choice of devices meets a constraint of the claim"
		return out
	}
	needed, byValue, without := 0, map[string]int{}, 0
	seen := map[device.ID]bool{}
	for r := range requestsOf(a.claim) {
		if !constrains(c, a.claim.Spec.Devices.Requests[r.parent].Name, r.name) {
			continue
		}
		needed += int(r.count)
		for _, u := range w.eligible(r, units) {
			if seen[u.ID()] {
				continue
			}
			seen[u.ID()] = true
			if value, ok := attributeOf(u, string(*attribute)); ok {
				byValue[value]++
			} else {
				without++
			}
		}
	}
	var parts []string
	for value, n := range byValue {
		parts = append(parts, fmt.Sprintf("%s: %d", value, n))
	}
	slices.Sort(parts)
	if without > 0 {
		parts = append(parts, fmt.Sprintf("without it: %d", without))
	}
	out.Text = fmt.Sprintf("constraint %s %s can't be met by %s; devices that could be had by value: %s", kind,
		*attribute, plural(needed, "device"), strings.Join(parts, ", "))
	return out
}

func constrains(c *resourcev1.DeviceConstraint, parent, name string) bool {
	return len(c.Requests) == 0 || slices.Contains(c.Requests, parent) || slices.Contains(c.Requests, name)
}

// eligible are the devices that a request could have.
func (w *world) eligible(r request, units []located) []located {
	rows := w.rows(r)
	if len(rows) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(units), func(u located) bool {
		match, _ := rows[len(rows)-1].Of(u.Slice, u.Index())
		if !match {
			return true
		}
		n := newTally()
		w.classify(n, r, u)
		return n.Eligible == 0
	})
}

// attributeOf is the value of an attribute by its fully qualified name.
func attributeOf(u located, name string) (string, bool) {
	a := u.Device().Attributes.Get(resourcev1.QualifiedName(name))
	if domain, id, qualified := strings.Cut(name, "/"); a == nil && qualified && domain == u.ID().Driver {
		a = u.Device().Attributes.Get(resourcev1.QualifiedName(id))
	}
	switch {
	case a == nil:
		return "", false
	case a.StringValue != nil:
		return *a.StringValue, true
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10), true
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue), true
	case a.VersionValue != nil:
		return *a.VersionValue, true
	}
	return "", false
}
