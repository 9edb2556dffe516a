package charge

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// counterCharges charges classes with counter sources: per device asked for, the largest value of the
// counter among the matching devices of complete pools, whichever device is allocated later. Each
// source of each mapping charges its own quota resource.
func (r *run) counterCharges(gates) {
	r.eachSourceRequest(r.e.cfg.Counters, func(q *sourceRequest, sources []config.Source) {
		for _, s := range sources {
			if r.counterCharge(q, s); r.stopped {
				return
			}
		}
	})
}

func (r *run) counterCharge(q *sourceRequest, s config.Source) {
	a := r.match(q, s, "counter")
	if a == nil {
		return
	}
	largest, n := a.largest, a.usable
	if !largest.Found {
		r.refuse(refusal{
			code: CodeNoCounter,
			errs: field.ErrorList{field.InternalError(q.path(),
				errors.New(message.Of(message.NotPublished, "consumesCounters entry for counter",
					string(s.Name)).Text()))},
			human: fmt.Sprintf("counter %q is consumed by none of %s of %s; check the counter's name in the "+
				"mapping against the ResourceSlices", s.Name, matching(n), s.Driver),
			evidence: append(q.evidence(r), r.sourceEvidence(s, "name", s.Name)),
		})
		return
	}
	if a.step == "" {
		a.step = fmt.Sprintf("counter %q of %s: %s × %d", s.Name, s.Driver, spread(largest, n), max(q.exactly.Count, 1))
		a.evidence = append(a.evidence, q.template.classEvidence(q.index), r.sourceEvidence(s, "name", s.Name))
		if x := a.example; a.shown {
			a.evidence = append(a.evidence,
				object(x.Slice.Record, fmt.Sprintf("spec.devices[%d].consumesCounters", x.Device),
					largest.Value.String()))
		}
	}
	value := deviceValue(largest.Value, q.exactly.Count)
	r.add(q.claim.set, draLine{
		resource: s.Resource, quantity: *resource.NewQuantity(value, largest.Value.Format), method: Counter,
		derivation: []string{"claim " + q.claim.name, "template " + q.claim.template, "class " +
			q.exactly.DeviceClassName, a.step},
		evidence: append([]Evidence{q.claim.evidence(r)}, a.evidence...),
	})
}

// spread words the value that is charged: alone, or as the largest of several.
func spread(l device.Largest, n int64) string {
	text := fmt.Sprintf("max %s over %s", l.Value.String(), matching(n))
	if len(l.Distinct) > 1 {
		text += fmt.Sprintf(" (from %s)", l.Distinct[0].String())
	}
	return text
}

func matching(n int64) string {
	if n == 1 {
		return "1 matching device"
	}
	return fmt.Sprintf("%d matching devices", n)
}

// deviceValue turns what one device publishes into a charge: rounded up to an integer, never below
// zero, times the devices asked for.
func deviceValue(q resource.Quantity, count int64) int64 {
	v := integerValue(q)
	if q.Sign() < 0 {
		v = 0
	}
	if count > 1 {
		v = multiply(v, count, true)
	}
	return v
}
