package charge

import (
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// capacityCharges charges classes with capacity sources: per device asked for, the capacity requested
// (else the device's default, else all of it), rounded by each matching device's policy; the largest counts.
func (r *run) capacityCharges(gates) {
	r.eachSourceRequest(r.e.cfg.Capacities, func(q *sourceRequest, sources []config.Source) {
		for _, s := range sources {
			if r.capacityCharge(q, s); r.stopped {
				return
			}
		}
	})
}

func (r *run) capacityCharge(q *sourceRequest, s config.Source) {
	a := r.match(q, s, "capacity")
	if a == nil {
		return
	}
	m, n := a.match, a.usable
	dimension := resourcev1.QualifiedName(s.Name)
	asked := requestedCapacity(q.exactly, dimension)
	c := largestCapacity(m, s.Driver, dimension, asked)
	switch {
	case !c.published:
		r.refuse(refusal{
			code: CodeNoCapacity,
			errs: field.ErrorList{field.InternalError(q.path(),
				errors.New(message.Of(message.NotPublished, "capacity dimension", string(s.Name)).Text()))},
			human: fmt.Sprintf("capacity %q is published by none of %s of %s; check the name in the mapping "+
				"against the ResourceSlices (bare or qualified)", s.Name, matching(n), s.Driver),
			evidence: append(q.evidence(r), r.sourceEvidence(s, "name", s.Name)),
		})
		return
	case !c.satisfiable:
		r.refuse(refusal{
			code: CodeCapacityPolicy,
			errs: field.ErrorList{field.Invalid(q.path(), nil, fmt.Sprintf("capacity request cannot be satisfied "+
				"by any matched device's RequestPolicy for dimension %q", s.Name))},
			human: fmt.Sprintf("request %s asks for more of capacity %q than the policy of any of %s of %s allows",
				q.name(), s.Name, matching(n), s.Driver),
			evidence: append(q.evidence(r), r.sourceEvidence(s, "name", s.Name)),
		})
		return
	}
	// A capacity source does not charge its own mapping's resource but the one its class is looked up to.
	resourceName, _ := r.e.cfg.Lookup(q.exactly.DeviceClassName)
	value := deviceValue(c.value, q.exactly.Count)
	how := "the whole capacity"
	if asked != nil {
		how = asked.String() + " requested"
	} else if c.byDefault {
		how = "the devices' default"
	}
	r.add(q.claim.set, draLine{
		resource: resourceName, quantity: *resource.NewQuantity(value, c.value.Format), method: Capacity,
		derivation: []string{
			"claim " + q.claim.name, "template " + q.claim.template, "class " + q.exactly.DeviceClassName,
			fmt.Sprintf("capacity %q of %s: %s, max %s over %s × %d", s.Name, s.Driver, how, c.value.String(),
				matching(n), max(q.exactly.Count, 1)),
		},
		evidence: append(q.evidence(r), r.sourceEvidence(s, "name", s.Name)),
	})
}

// requestedCapacity is what a request asks for of a dimension, nil when it does not say. The name must
// be written as in the configuration.
func requestedCapacity(x *resourcev1.ExactDeviceRequest, dimension resourcev1.QualifiedName) *resource.Quantity {
	if x.Capacity == nil {
		return nil
	}
	if q, ok := x.Capacity.Requests[dimension]; ok {
		return &q
	}
	return nil
}

// capacityAnswer is the largest charge over the matching devices.
type capacityAnswer struct {
	value                             resource.Quantity
	published, satisfiable, byDefault bool
}

func largestCapacity(m *device.Match, driver string, dimension resourcev1.QualifiedName,
	asked *resource.Quantity) capacityAnswer {
	var a capacityAnswer
	for c, has := range m.Capacities(driver, dimension) {
		if !has {
			continue
		}
		a.published = true
		base, byDefault := c.Value, false
		switch {
		case asked != nil:
			base = *asked
		case c.RequestPolicy != nil && c.RequestPolicy.Default != nil:
			base, byDefault = *c.RequestPolicy.Default, true
		}
		v, ok := roundToPolicy(base, c.RequestPolicy)
		if !ok {
			continue
		}
		if !a.satisfiable || v.Cmp(a.value) > 0 {
			a.value, a.byDefault = v, byDefault
		}
		a.satisfiable = true
	}
	return a
}

// roundToPolicy rounds a request up to what a device's policy allows: the smallest valid value, or the
// next step above the minimum. ok is false when the device can't give it.
func roundToPolicy(base resource.Quantity, p *resourcev1.CapacityRequestPolicy) (resource.Quantity, bool) {
	switch {
	case p == nil:
		return base, true
	case len(p.ValidValues) > 0:
		for _, v := range p.ValidValues {
			if v.Cmp(base) >= 0 {
				return v, true
			}
		}
		return base, false
	case p.ValidRange != nil:
		return roundToRange(base, p.ValidRange)
	}
	return base, true
}

// roundToRange works on integers. A step means nothing without a minimum to count from.
func roundToRange(base resource.Quantity, r *resourcev1.CapacityRequestPolicyRange) (resource.Quantity, bool) {
	v := integerValue(base)
	if r.Min != nil {
		least := integerValue(*r.Min)
		v = max(v, least)
		if r.Step != nil {
			if step := integerValue(*r.Step); step > 0 {
				if over := Subtract(v, least); over%step != 0 {
					v = Add(least, multiply(Add(over/step, 1), step, true))
				}
			}
		}
	}
	if r.Max != nil && v > integerValue(*r.Max) {
		return base, false
	}
	return *resource.NewQuantity(v, base.Format), true
}
