package charge

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// claimCheck is the outcome of holding the CEL selectors of one claim against the published devices.
// Only requests that have selectors of their own are checked.
type claimCheck struct {
	errors []templateError
	// possible holds, for a request whose outcome depends on the order of slices, its possible errors
	// (nil for success).
	possible [][]*templateError
	missing  []string
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
	var indices []int
	var requests []device.Request
	for k := range t.spec.Devices.Requests {
		x := t.spec.Devices.Requests[k].Exactly
		if x == nil || !slices.ContainsFunc(x.Selectors, func(s resourcev1.DeviceSelector) bool { return s.CEL != nil }) {
			continue
		}
		class, refused, code, missing := e.classRow(x.DeviceClassName, requestsPath.Index(k))
		if missing {
			c.missing = append(c.missing, cluster.DeviceClass.Kind)
			continue
		}
		if refused != nil {
			c.errors = append(c.errors, templateError{code: code, err: refused, human: refused.Detail, path: objectPath(requestsPath.Index(k))})
			continue
		}
		// Compiled without error before: counting comes first.
		row, _ := e.compile(x.Selectors, requestsPath.Index(k), "")
		indices = append(indices, k)
		requests = append(requests, device.Request{Class: class, Selectors: row, Count: x.Count})
	}
	if len(requests) == 0 {
		return c
	}
	if !e.snap.Coverage.Has(cluster.ResourceSlice) {
		c.missing = append(c.missing, cluster.ResourceSlice.Kind)
		return c
	}
	for n, a := range e.inv.Satisfy(requests, e.driversFor(t)) {
		c.add(t, indices[n], a)
	}
	slices.SortStableFunc(c.errors, func(a, b templateError) int { return requestIndex(a.path) - requestIndex(b.path) })
	return c
}

// requestIndex orders errors by the request they belong to.
func requestIndex(path string) int {
	var k int
	if _, err := fmt.Sscanf(path, "spec.spec.devices.requests[%d]", &k); err != nil {
		return 0
	}
	return k
}

// add records the answer for device request k.
func (c *claimCheck) add(t *claimTemplate, k int, a device.Answer) {
	x := t.spec.Devices.Requests[k].Exactly
	first := answerError(x, k, a)
	if a.Certain() {
		if first != nil {
			c.errors = append(c.errors, *first)
		}
		return
	}
	possible := []*templateError{first}
	for _, o := range a.Other {
		possible = append(possible, answerError(x, k, o))
	}
	c.possible = append(c.possible, possible)
}

func answerError(x *resourcev1.ExactDeviceRequest, k int, a device.Answer) *templateError {
	path := requestsPath.Index(k).Child("exactly", "selectors")
	switch {
	case a.Err != nil:
		detail := fmt.Sprintf("CEL evaluation failed for DeviceClass %s: %v", x.DeviceClassName, a.Err)
		return &templateError{code: CodeSelectorFails, err: field.Invalid(path, nil, detail), human: detail, path: objectPath(path)}
	case a.Matched < x.Count:
		err := fmt.Errorf("insufficient matching devices for CEL selector in DeviceClass %s: %d device(s) match in the cluster but %d requested", x.DeviceClassName, a.Matched, x.Count)
		return &templateError{code: CodeTooFewDevices, err: field.InternalError(path, err), human: err.Error(), path: objectPath(path)}
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
