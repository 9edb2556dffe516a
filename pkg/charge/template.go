package charge

import (
	"errors"
	"fmt"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// claimTemplate is one ResourceClaimTemplate, looked at once however many workloads use it.
type claimTemplate struct {
	record *cluster.Object
	spec   *resourcev1.ResourceClaimSpec

	counts   []classCount
	countErr *templateError
	check    *claimCheck
	classes  map[int]Evidence
}

// classEvidence points at the class of one device request.
func (t *claimTemplate) classEvidence(request int) Evidence {
	if e, ok := t.classes[request]; ok {
		return e
	}
	var e Evidence
	if x := t.spec.Devices.Requests[request].Exactly; x != nil {
		e = object(t.record, objectPath(requestsPath.Index(request).Child("exactly", "deviceClassName")),
			x.DeviceClassName)
	} else {
		e = object(t.record, objectPath(requestsPath.Index(request).Child("firstAvailable")), "")
	}
	if t.classes == nil {
		t.classes = map[int]Evidence{}
	}
	t.classes[request] = e
	return e
}

// classCount is the number of devices asked for of one class, in the order Kueue walks the classes.
type classCount struct {
	class string
	count int64
	// alternatives are the other classes of a request with firstAvailable: they cost the same.
	alternatives []string
	// request is the index of the first device request for the class, for evidence.
	request int
}

// templateError is an error inside a claim template: its path is relative to the pod's claim.
type templateError struct {
	code  string
	err   *field.Error
	human string
	// path of the offending field in the ResourceClaimTemplate object.
	path string
}

// template returns the claim template of that name; nil when it is not in the snapshot.
func (e *Engine) template(namespace, name string) *claimTemplate {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if t, ok := e.claims[key]; ok {
		return t
	}
	var t *claimTemplate
	if obj, record, ok := cluster.Lookup[*resourcev1.ResourceClaimTemplate](e.snap, cluster.ResourceClaimTemplate,
		namespace, name); ok {
		t = &claimTemplate{record: record, spec: &obj.Spec.Spec}
		t.countDevices(e)
	}
	e.claims[key] = t
	return t
}

var requestsPath = field.NewPath("devices", "requests")

// countDevices counts the devices per class. The first unsupported feature ends it.
func (t *claimTemplate) countDevices(e *Engine) {
	b := e.cfg.Behavior
	if b.RejectConstraintsAndConfig {
		if len(t.spec.Devices.Constraints) > 0 {
			t.countErr = invalid(CodeConstraints, field.NewPath("devices", "constraints"), nil,
				"device constraints (MatchAttribute) are not supported")
			return
		}
		if len(t.spec.Devices.Config) > 0 {
			t.countErr = invalid(CodeClaimConfig, field.NewPath("devices", "config"), nil,
				"device config is not supported")
			return
		}
	}
	counts := map[string]*classCount{}
	var order []string
	for k := range t.spec.Devices.Requests {
		req := &t.spec.Devices.Requests[k]
		class, n, err := deviceRequest(e, req, requestsPath.Index(k))
		var alternatives []string
		if len(req.FirstAvailable) > 0 && b.PrioritizedList {
			class, n, alternatives, err = prioritizedList(e, req.FirstAvailable,
				requestsPath.Index(k).Child("firstAvailable"))
		}
		if err != nil {
			t.countErr = err
			return
		}
		if class == "" || n == skipped {
			continue
		}
		c := counts[class]
		if c == nil {
			c = &classCount{class: class, request: k}
			counts[class] = c
			order = append(order, class)
		}
		c.count = add(c.count, n, b.SaturateDeviceCount)
		c.alternatives = append(c.alternatives, alternatives...)
	}
	if b.ResourceOrder == release.FNV64a {
		sortFNV(order)
	}
	for _, class := range order {
		t.counts = append(t.counts, *counts[class])
	}
}

// skipped marks a request that is not counted at all.
const skipped = math.MinInt64

// deviceRequest returns class and count of one device request, or the reason for which it is refused.
// Kueue tests in this order; which feature is named depends on it.
func deviceRequest(e *Engine, req *resourcev1.DeviceRequest, path *field.Path) (class string, count int64,
	refused *templateError) {
	b, x := e.cfg.Behavior, req.Exactly
	exactly := path.Child("exactly")
	switch {
	case req.FirstAvailable != nil:
		return "", 0, invalid(CodeFirstAvailable, path, nil, "FirstAvailable device selection is not supported")
	case x == nil && !b.NilExactlyIsError:
		return "", 0, &templateError{code: CodeManagerPanics, human: "a device request has neither exactly nor " +
			"firstAvailable; this Kueue version crashes on it", path: objectPath(path)}
	case x == nil:
		return "", 0, invalid(CodeExactlyMissing, path, nil, "Exactly must be set if FirstAvailable is nil")
	case b.RejectCELSelectors && len(x.Selectors) > 0:
		return "", 0, invalid(CodeSelectorsUnsupported, exactly.Child("selectors"), nil,
			"CEL selectors are not supported")
	}
	if !b.RejectCELSelectors {
		if _, errs := e.compile(x.Selectors, exactly.Child("selectors"), "CEL compilation failed"); len(errs) > 0 {
			return "", 0, invalid(CodeInvalidSelector, exactly.Child("selectors"), nil, errs.ToAggregate().Error())
		}
	}
	if x.AdminAccess != nil && *x.AdminAccess {
		if b.AdminAccessExempt {
			return x.DeviceClassName, skipped, nil
		}
		return "", 0, invalid(CodeAdminAccess, exactly.Child("adminAccess"), nil, "AdminAccess is not supported")
	}
	switch x.AllocationMode {
	case resourcev1.DeviceAllocationModeExactCount:
		return x.DeviceClassName, x.Count, nil
	case resourcev1.DeviceAllocationModeAll:
		return "", 0, invalid(CodeAllocationMode, exactly.Child("allocationMode"), x.AllocationMode,
			"AllocationMode 'All' is not supported")
	}
	return "", 0, invalid(CodeAllocationMode, exactly.Child("allocationMode"), x.AllocationMode,
		fmt.Sprintf("unsupported allocation mode: %s", x.AllocationMode))
}

func invalid(code string, path *field.Path, value any, detail string) *templateError {
	return &templateError{code: code, err: field.Invalid(path, value, detail), human: detail, path: objectPath(path)}
}

// objectPath turns a path inside a claim spec into the path in the ResourceClaimTemplate.
func objectPath(p *field.Path) string { return "spec.spec." + p.String() }

// compile compiles the CEL selectors of a list, and reports those that do not compile as Kueue does.
func (e *Engine) compile(selectors []resourcev1.DeviceSelector, path *field.Path, context string) ([]*device.Expression,
	field.ErrorList) {
	var row []*device.Expression
	var errs field.ErrorList
	for i, s := range selectors {
		if s.CEL == nil {
			continue
		}
		x := e.inv.Compile(s.CEL.Expression)
		if x.CompileError != "" {
			errs = append(errs,
				field.Invalid(path.Index(i).Child("cel", "expression"), s.CEL.Expression, context+": "+x.CompileError))
			continue
		}
		row = append(row, x)
	}
	return row, errs
}

// classRow resolves a DeviceClass and compiles its selectors. path is that of the device requests'
// parent, as Kueue passes it. missing tells that DeviceClasses are not in the input.
func (e *Engine) classRow(class string, at *field.Path) (row []*device.Expression, refused *field.Error, code string,
	missing bool) {
	if class == "" {
		return nil, nil, "", false
	}
	dc, _, ok := cluster.Lookup[*resourcev1.DeviceClass](e.snap, cluster.DeviceClass, "", class)
	if !ok {
		if !e.knownAbsent(cluster.DeviceClass.Kind, "", class) {
			return nil, nil, "", true
		}
		return nil, field.InternalError(at,
			fmt.Errorf("%s: %w", message.Of(message.ClassUnreadable, class).Text(),
				notFound("DeviceClass", class))), CodeDeviceClassNotFound, false
	}
	row, errs := e.compile(dc.Spec.Selectors, at, fmt.Sprintf("DeviceClass %s has invalid CEL selector", class))
	if len(errs) > 0 {
		return nil, errs[0], CodeInvalidSelector, false
	}
	return row, nil, "", false
}

// notFound words a missing object of resource.k8s.io as the API server does.
func notFound(kind, name string) error {
	return errors.New(message.Of(message.ObjectNotFound, kind, name).Text())
}
