package charge

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// Choice is a device request that devices of several sizes match. It is charged for the largest of them.
type Choice struct {
	Template *cluster.Object
	// Request is the index of the device request in the template.
	Request int
	// Selectors are how many selectors the request has.
	Selectors int
	Resource  corev1.ResourceName
	// Pods of the workload that use the template.
	Pods int64
	// Sizes tells the matching devices apart; Charges says what the request is charged in one pod when only devices
	// with that value match, and Charged what it is charged now.
	Sizes   device.Sizes
	Charges map[string]int64
	Charged int64
}

// Choices lists the requests of a charged workload that a narrower selector would make cheaper, in the order of its
// pod sets and claims.
func (e *Engine) Choices(c *Charge) []Choice {
	var out []Choice
	at := map[*claimTemplate]int{}
	for i := range c.Workload.PodSets {
		ps := &c.Workload.PodSets[i]
		for _, claim := range ps.Template.Spec.ResourceClaims {
			if claim.ResourceClaimTemplateName == nil {
				continue
			}
			t := e.template(c.Workload.Namespace, *claim.ResourceClaimTemplateName)
			if t == nil {
				continue
			}
			if first, seen := at[t]; seen {
				for k := first; k < len(out) && out[k].Template == t.record; k++ {
					out[k].Pods += int64(ps.Count)
				}
				continue
			}
			at[t] = len(out)
			out = append(out, e.choicesOf(t, int64(ps.Count))...)
		}
	}
	return out
}

// choicesOf looks at what was found out when the template was charged.
func (e *Engine) choicesOf(t *claimTemplate, pods int64) []Choice {
	var out []Choice
	for k := range t.spec.Devices.Requests {
		x := t.spec.Devices.Requests[k].Exactly
		if x == nil {
			continue
		}
		for _, s := range e.cfg.Counters(x.DeviceClassName) {
			a := e.answers[sourceKey{t, k, s.Mapping, s.Index}]
			if a == nil || len(a.largest.Distinct) < 2 || len(a.failures) > 0 {
				continue
			}
			sizes, ok := a.match.Sizes(s.Driver, s.Name, e.cfg.Behavior.CounterMaxOverAllSets)
			if !ok {
				continue
			}
			choice := Choice{Template: t.record, Request: k, Selectors: len(x.Selectors), Resource: s.Resource,
				Pods: pods, Sizes: sizes,
				Charges: map[string]int64{}, Charged: deviceValue(a.largest.Value, x.Count)}
			for value, q := range sizes.Of {
				choice.Charges[value] = deviceValue(q, x.Count)
			}
			out = append(out, choice)
		}
	}
	return out
}
