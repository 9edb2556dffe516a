package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// SelectorOf says what a CEL selector belongs to.
type SelectorOf string

const (
	OfClass   SelectorOf = "DeviceClass"
	OfRequest SelectorOf = "device request"
	OfSource  SelectorOf = "source of a device class mapping"
)

// Selector is one CEL selector of the input.
type Selector struct {
	Of   SelectorOf
	At   Place
	Text string
	// Class is the DeviceClass, of a class or of the request.
	Class string
	// Count of devices that the request asks for; 0 for the others.
	Count int64
	// Driver of a source.
	Driver string
	// Object is the class, claim or template; nil for a source.
	Object *cluster.Object
	// Request is the path of the request in Object.
	Request string
}

// Selectors are all CEL selectors: of classes, templates, claims, then of the configuration's sources.
func (f *Facts) Selectors() []Selector { return f.selectors() }

func (f *Facts) findSelectors() []Selector {
	var out []Selector
	for o, class := range cluster.All[*resourcev1.DeviceClass](f.Snapshot, cluster.DeviceClass) {
		for i, s := range class.Spec.Selectors {
			if s.CEL != nil {
				out = append(out, Selector{Of: OfClass, At: At(o, fmt.Sprintf("spec.selectors[%d].cel.expression", i)),
					Text: s.CEL.Expression, Class: class.Name, Object: o})
			}
		}
	}
	for r := range f.DeviceRequests() {
		for i, s := range r.Selectors {
			if s.CEL != nil {
				out = append(out, Selector{Of: OfRequest, At: r.At(fmt.Sprintf("selectors[%d].cel.expression", i)),
					Text: s.CEL.Expression, Class: r.Class, Count: r.Count, Object: r.Object, Request: r.Path})
			}
		}
	}
	out = f.misplacedSelectors(out)
	for _, s := range f.Config.Sources() {
		if s.Selector != "" {
			out = append(out, Selector{Of: OfSource, At: f.Configured(s.Path + ".deviceSelector.cel.expression"),
				Text: s.Selector, Driver: s.Driver})
		}
	}
	return out
}

// celKey stands before each selector.
var celKey = []byte(`"cel"`)

// misplacedSelectors adds the selectors of documents that typed objects do not hold: they stand in fields that the
// document's version does not have, or in an object that a later document replaces.
func (f *Facts) misplacedSelectors(known []Selector) []Selector {
	seen, held := map[placeOf]bool{}, map[*source.Origin]int{}
	for _, s := range known {
		seen[placeOf{s.At.Origin, s.At.Path}] = true
		held[s.At.Origin]++
	}
	for i := range f.Documents {
		d := &f.Documents[i]
		if bytes.Count(d.JSON, celKey) <= held[d.Origin] {
			continue // each is known
		}
		var value any
		if GroupOf(d) != cluster.DeviceClass.Group || json.Unmarshal(d.JSON, &value) != nil {
			continue
		}
		eachExpression(value, "", func(path, text string) {
			path = strings.TrimPrefix(path, ".")
			if at := (placeOf{d.Origin, path}); !seen[at] {
				seen[at] = true
				of := OfRequest
				if d.Kind == cluster.DeviceClass.Kind {
					of = OfClass
				}
				known = append(known, Selector{Of: of, At: AtDocument(d, path), Text: text})
			}
		})
	}
	return known
}

type placeOf struct {
	origin *source.Origin
	path   string
}

// eachExpression visits the CEL expressions below a value, in the order of their paths.
func eachExpression(value any, path string, visit func(path, text string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := path + step(key)
			if text, ok := v[key].(string); ok && key == "expression" && strings.HasSuffix(path, ".cel") {
				visit(at, text)
			}
			eachExpression(v[key], at, visit)
		}
	case []any:
		for i, child := range v {
			eachExpression(child, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}

// DeviceRequest is a request of a claim or a claim template, or one of its alternatives.
type DeviceRequest struct {
	Object *cluster.Object
	// Path of the request, or of the alternative, in Object.
	Path string
	// Alternative tells that it is one of firstAvailable.
	Alternative bool
	Name, Class string
	Selectors   []resourcev1.DeviceSelector
	Mode        resourcev1.DeviceAllocationMode
	Count       int64
	AdminAccess bool
	// Exactly is nil for an alternative, and for a request without it.
	Exactly *resourcev1.ExactDeviceRequest
	// Claim is the spec the request stands in.
	Claim *resourcev1.ResourceClaimSpec
}

// At is the place of a field of the request.
func (r DeviceRequest) At(field string) Place {
	path := r.Path
	switch {
	case field == "":
	case r.Alternative:
		path += "." + field
	default:
		path += ".exactly." + field
	}
	return At(r.Object, path)
}

// DeviceRequests yields the requests of all claim templates and claims, in that order.
func (f *Facts) DeviceRequests() func(yield func(DeviceRequest) bool) {
	return func(yield func(DeviceRequest) bool) {
		for o, t := range cluster.All[*resourcev1.ResourceClaimTemplate](f.Snapshot, cluster.ResourceClaimTemplate) {
			if !eachRequest(o, &t.Spec.Spec, "spec.spec.devices.requests", yield) {
				return
			}
		}
		for o, c := range cluster.All[*resourcev1.ResourceClaim](f.Snapshot, cluster.ResourceClaim) {
			if len(o.Meta.OwnerReferences) == 0 && !eachRequest(o, &c.Spec, "spec.devices.requests", yield) {
				return
			}
		}
	}
}

func eachRequest(o *cluster.Object, spec *resourcev1.ResourceClaimSpec, path string,
	yield func(DeviceRequest) bool) bool {
	for k := range spec.Devices.Requests {
		q := &spec.Devices.Requests[k]
		r := DeviceRequest{Object: o, Path: fmt.Sprintf("%s[%d]", path, k), Name: q.Name, Claim: spec}
		if x := q.Exactly; x != nil {
			r.Exactly, r.Class, r.Selectors, r.Mode, r.Count = x, x.DeviceClassName, x.Selectors, x.AllocationMode,
				x.Count
			r.AdminAccess = x.AdminAccess != nil && *x.AdminAccess
		}
		if (q.Exactly != nil || len(q.FirstAvailable) == 0) && !yield(r) {
			return false
		}
		for i := range q.FirstAvailable {
			s := &q.FirstAvailable[i]
			alternative := DeviceRequest{Object: o, Path: fmt.Sprintf("%s.firstAvailable[%d]", r.Path, i),
				Alternative: true,
				Name: q.Name + "/" +
					s.Name, Class: s.DeviceClassName, Selectors: s.Selectors, Mode: s.AllocationMode, Count: s.Count,
				Claim: spec}
			if !yield(alternative) {
				return false
			}
		}
	}
	return true
}

// OfTemplate tells that the request is one of a ResourceClaimTemplate.
func (r DeviceRequest) OfTemplate() bool {
	return r.Object.Ref.GroupKind() == cluster.ResourceClaimTemplate
}

// Parent is the place of the request that an alternative belongs to; of other requests it is their own.
func (r DeviceRequest) Parent() Place {
	path, _, _ := strings.Cut(r.Path, ".firstAvailable[")
	return At(r.Object, path)
}
