package charge

import (
	"errors"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// claimCheck is the outcome of holding the CEL selectors of one claim against the published devices.
// Only requests that have selectors of their own are checked.
type claimCheck struct {
	// outcomes holds, for each checked request in order, what may come of it: nil for success. There is
	// more than one only where the result depends on the order of slices.
	outcomes [][]*templateError
	missing  []string
}

// maxOutcomes bounds the joint outcomes that are told for one claim.
const maxOutcomes = 64

// joint lists what may come of the claim as a whole: for each outcome the errors in request order, none
// for success. It may list combinations that no single order gives.
func (c *claimCheck) joint() [][]*templateError {
	all := [][]*templateError{nil}
	for _, outcomes := range c.outcomes {
		var next [][]*templateError
		for _, before := range all {
			for _, o := range outcomes {
				errors := slices.Clone(before)
				if o != nil {
					errors = append(errors, o)
				}
				if len(next) < maxOutcomes {
					next = append(next, errors)
				}
			}
		}
		all = next
	}
	return all
}

// checkClaim answers for a claim template once.
func (e *Engine) checkClaim(t *claimTemplate) *claimCheck {
	if t.check != nil {
		return t.check
	}
	c := &claimCheck{}
	t.check = c
	if !e.cfg.Behavior.CheckCELSatisfiability {
		return c
	}
	var at []int // of each request below, its place in outcomes
	var requests []device.Request
	var indices []int
	for k := range t.spec.Devices.Requests {
		x := t.spec.Devices.Requests[k].Exactly
		if x == nil || !slices.ContainsFunc(x.Selectors,
			func(s resourcev1.DeviceSelector) bool { return s.CEL != nil }) {
			continue
		}
		class, refused, code, missing := e.classRow(x.DeviceClassName, requestsPath.Index(k))
		if missing {
			c.missing = append(c.missing, cluster.DeviceClass.Kind)
			continue
		}
		if refused != nil {
			c.outcomes = append(c.outcomes,
				[]*templateError{{code: code, err: refused, human: refused.Detail,
					path: objectPath(requestsPath.Index(k))}})
			continue
		}
		// Compiled without error before: counting comes first.
		row, _ := e.compile(x.Selectors, requestsPath.Index(k), "")
		at, indices = append(at, len(c.outcomes)), append(indices, k)
		requests = append(requests, device.Request{Class: class, Selectors: row, Count: x.Count})
		c.outcomes = append(c.outcomes, []*templateError{nil})
	}
	if len(requests) == 0 {
		return c
	}
	if !e.snap.Coverage.Has(cluster.ResourceSlice) {
		c.missing = append(c.missing, cluster.ResourceSlice.Kind)
		return c
	}
	for n, a := range e.inv.Satisfy(requests, e.driversFor(t)) {
		c.outcomes[at[n]] = answerErrors(t, indices[n], a)
	}
	return c
}

// answerErrors are the errors, or nil, that may come of device request k.
func answerErrors(t *claimTemplate, k int, a device.Answer) []*templateError {
	x := t.spec.Devices.Requests[k].Exactly
	out := []*templateError{answerError(x, k, a)}
	for _, o := range a.Other {
		out = append(out, answerError(x, k, o))
	}
	if a.Sampled && !slices.Contains(out, nil) {
		out = append(out, nil) // not every order was tried
	}
	return out
}

func answerError(x *resourcev1.ExactDeviceRequest, k int, a device.Answer) *templateError {
	path := requestsPath.Index(k).Child("exactly", "selectors")
	switch {
	case a.Err != nil:
		detail := fmt.Sprintf("CEL evaluation failed for DeviceClass %s: %v", x.DeviceClassName, a.Err)
		return &templateError{code: CodeSelectorFails, err: field.Invalid(path, nil, detail), human: detail,
			path: objectPath(path)}
	case a.Matched < x.Count:
		err := errors.New(message.Of(message.TooFewOfClass, x.DeviceClassName,
			fmt.Sprint(a.Matched), fmt.Sprint(x.Count)).Text())
		return &templateError{code: CodeTooFewDevices, err: field.InternalError(path, err), human: err.Error(),
			path: objectPath(path)}
	}
	return nil
}

// driversFor limits the slices looked at: when every class with selectors has sources, only their
// drivers' slices are, else all.
func (e *Engine) driversFor(t *claimTemplate) []string {
	var drivers []string
	for k := range t.spec.Devices.Requests {
		x := t.spec.Devices.Requests[k].Exactly
		if x == nil || len(x.Selectors) == 0 {
			continue
		}
		sources := append(e.cfg.Counters(x.DeviceClassName), e.cfg.Capacities(x.DeviceClassName)...)
		if len(sources) == 0 {
			return nil
		}
		for _, s := range sources {
			if !slices.Contains(drivers, s.Driver) {
				drivers = append(drivers, s.Driver)
			}
		}
	}
	return drivers
}
