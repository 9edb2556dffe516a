package charge

import (
	"errors"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
)

// sourceRequest is one device request of a claim whose class is charged by sources.
type sourceRequest struct {
	claim    podClaim
	template *claimTemplate
	index    int
	exactly  *resourcev1.ExactDeviceRequest
	class    []*device.Expression
	selector []*device.Expression
}

// path of the device request, for Kueue's errors.
func (q *sourceRequest) path() *field.Path {
	return q.claim.path().Child("devices", "requests").Index(q.index)
}

// rowNames are Kueue's words for the rows of selectors, in the order they are evaluated.
var rowNames = []string{"deviceSelector", "DeviceClass selector", "request selector"}

// eachSourceRequest visits the device requests whose class has sources. It stops at the first error.
func (r *run) eachSourceRequest(sources func(class string) []config.Source,
	visit func(*sourceRequest, []config.Source)) {
	for i := range r.w.PodSets {
		for _, c := range r.claimsOf(i) {
			t := r.e.template(r.w.Namespace, c.template)
			if t == nil {
				continue
			}
			for k := range t.spec.Devices.Requests {
				x := t.spec.Devices.Requests[k].Exactly
				if x == nil || r.e.cfg.Behavior.AdminAccessExempt && x.AdminAccess != nil && *x.AdminAccess {
					continue
				}
				of := sources(x.DeviceClassName)
				if len(of) == 0 {
					continue
				}
				q := &sourceRequest{claim: c, template: t, index: k, exactly: x}
				if r.prepare(q) {
					visit(q, of)
				}
				if r.stopped {
					return
				}
			}
		}
	}
}

// prepare resolves the class and selectors of a request. It returns false when that is impossible.
func (r *run) prepare(q *sourceRequest) bool {
	at := q.path()
	if !r.e.cfg.Behavior.DeviceClassErrPathFixed {
		// These versions append the index below the request's own path.
		at = q.path().Child("devices", "requests").Index(0)
	}
	class, refused, code, missing := r.e.classRow(q.exactly.DeviceClassName, at)
	if refused != nil {
		r.refuse(refusal{code: code, errs: field.ErrorList{refused}, human: refused.Detail, evidence: q.evidence(r)})
		return false
	}
	if !r.e.snap.Coverage.Has(cluster.ResourceSlice) {
		r.missing(cluster.ResourceSlice.Kind)
	}
	if missing {
		r.missing(cluster.DeviceClass.Kind)
	}
	if missing || !r.e.snap.Coverage.Has(cluster.ResourceSlice) {
		r.unsure = true
		return false
	}
	q.class = class
	q.selector, _ = r.e.compile(q.exactly.Selectors, q.path(), "")
	return true
}

// evidence of a request: the pod's claim and the class in the template.
func (q *sourceRequest) evidence(r *run) []Evidence {
	return []Evidence{
		q.claim.evidence(r),
		q.template.classEvidence(q.index),
	}
}

// sourceKey names one source applied to one device request of a template.
type sourceKey struct {
	template       *claimTemplate
	request        int
	mapping, index int
}

// sourceAnswer is what the inventory says to it. It is the same for every workload that uses the template.
type sourceAnswer struct {
	match    *device.Match
	failures []device.Failure
	usable   int64
	largest  device.Largest
	example  device.Example
	shown    bool
	// step and evidence tell a counter charge; every workload that uses the template shares them.
	step     string
	evidence []Evidence
}

// answer asks the inventory once per template, request and source.
func (e *Engine) answer(q *sourceRequest, s config.Source, selector *device.Expression) *sourceAnswer {
	key := sourceKey{q.template, q.index, s.Mapping, s.Index}
	if a, ok := e.answers[key]; ok {
		return a
	}
	a := &sourceAnswer{match: e.inv.Match([]*device.Expression{selector}, q.class, q.selector)}
	a.failures = a.match.Failures(s.Driver)
	a.usable = a.match.Usable(s.Driver)
	if !s.Capacity {
		a.largest = a.match.MaxCounter(s.Driver, s.Name, e.cfg.Behavior.CounterMaxOverAllSets)
		a.example, a.shown = a.match.Example(a.largest)
	}
	e.answers[key] = a
	return a
}

// match finds the devices a source charges for. It returns nil when the workload is refused here: the
// selectors fail on a device, or too few devices match.
func (r *run) match(q *sourceRequest, s config.Source, kind string) *sourceAnswer {
	x := r.e.inv.Compile(s.Selector)
	if x.CompileError != "" {
		err := field.Invalid(q.path().Index(0).Child("cel", "expression"), s.Selector,
			"deviceSelector CEL compilation failed: "+x.CompileError)
		r.refuse(refusal{code: CodeInvalidSelector, errs: field.ErrorList{err}, human: err.Detail,
			evidence: q.evidence(r)})
		return nil
	}
	a := r.e.answer(q, s, x)
	if pools := r.unclearPools(s.Driver); pools != "" {
		r.chance("the slices of pool "+pools+" of "+s.Driver+" state different slice counts, so whether it is "+
			"complete depends on their order", nil, q.evidence(r)...)
	}
	if len(a.failures) > 0 {
		r.refuseFailures(q, a.failures)
		return nil
	}
	if a.usable < q.exactly.Count {
		err := errors.New(message.Of(message.TooFewOfSource, fmt.Sprint(kind), fmt.Sprint(a.usable), " but ",
			fmt.Sprint(q.exactly.Count)).Text())
		r.refuse(refusal{
			code: CodeTooFewDevices, errs: field.ErrorList{field.InternalError(q.path(), err)},
			human: fmt.Sprintf("%d device(s) of %s in complete pools match request %s of template %s, %d are "+
				"asked for%s", a.usable, s.Driver, q.name(), q.claim.template, q.exactly.Count, r.poolHint(s.Driver)),
			evidence: append(q.evidence(r), r.sourceEvidence(s, "driver", s.Driver)),
		})
		return nil
	}
	return a
}

func (q *sourceRequest) name() string { return q.template.spec.Devices.Requests[q.index].Name }

func (r *run) refuseFailures(q *sourceRequest, failures []device.Failure) {
	f := refusal{code: CodeSelectorFails, evidence: q.evidence(r)}
	for n, fail := range failures {
		err := field.InternalError(q.path(),
			fmt.Errorf("%s %w", message.Of(message.SourceSelectorFails, rowNames[fail.Row], fail.Device).Text(),
				fail.Err))
		if n == 0 {
			f.errs = field.ErrorList{err}
			f.human = fmt.Sprintf("the %s can't be evaluated on device %s: %v; guard the access, for example with has()",
				rowNames[fail.Row], fail.Device, fail.Err)
			f.evidence = append(f.evidence, object(fail.Slice.Record, "spec.devices", fail.Device))
			continue
		}
		if text := truncate(err.Error()); !slices.Contains(f.others, text) && text != truncate(f.errs[0].Error()) {
			f.others = append(f.others, text)
		}
	}
	r.refuse(f)
}

// unclearPools names the first pool of a driver whose completeness depends on the order of its slices.
func (r *run) unclearPools(driver string) string {
	for _, p := range r.e.inv.Pools[driver] {
		if p.Disagree {
			return p.Name
		}
	}
	return ""
}

// poolHint explains why devices that are published do not count.
func (r *run) poolHint(driver string) string {
	pools := r.e.inv.Pools[driver]
	if len(pools) == 0 {
		return fmt.Sprintf("; driver %s publishes no ResourceSlices", driver)
	}
	for _, p := range pools {
		if !p.Complete() {
			return fmt.Sprintf("; pool %s is incomplete (%d of %d slices of generation %d) and does not count", p.Name,
				len(p.Slices), p.Expected, p.Generation)
		}
	}
	return ""
}

// sourceEvidence points at a field of a source in the configuration.
func (r *run) sourceEvidence(s config.Source, fieldName, value string) Evidence {
	kind := "counter"
	if s.Capacity {
		kind = "capacity"
	}
	return r.configEvidence(fmt.Sprintf("resources.deviceClassMappings[%d].sources[%d].%s.%s", s.Mapping, s.Index, kind,
		fieldName), value)
}
