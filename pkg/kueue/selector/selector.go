// Package selector compiles and evaluates CEL selectors of devices as the Kubernetes library does that a
// release of Kueue is built with.
//
// In: the text of a selector, a device, and a [Library]. Out: whether the device matches, or the errors that
// library gives. The program itself is built with a newer library: what an older one refuses is refused here.
package selector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// Library is what a version of k8s.io/dynamic-resource-allocation/cel does with selectors.
type Library struct {
	// Lists: attributes may be lists. Before Kubernetes 1.37, without a feature gate that Kueue does not set, any
	// selector fails on a device with such an attribute, whether it looks at the attribute or not, and an expression
	// that goes through the items of an attribute does not compile.
	Lists bool
}

// Newest is the library of the newest Kubernetes known.
var Newest = Library{Lists: true}

// Of is the library that a release of Kueue is built with.
func Of(b release.Behavior) Library { return Library{Lists: b.ListAttributes} }

// Compiled is a compiled selector.
type Compiled struct {
	dracel.CompilationResult
	// Detail is why it does not compile, in the words of the library; empty when it does.
	Detail string

	library Library
}

// Compile compiles as Kueue does: as a stored expression, with no optional feature.
func (l Library) Compile(text string) Compiled {
	c := Compiled{library: l, CompilationResult: compileStored(text)}
	if c.Error != nil {
		c.Detail = c.Error.Detail
		return c
	}
	if !l.Lists {
		c.Detail = withoutLists(text)
	}
	return c
}

func compileStored(text string) dracel.CompilationResult {
	return dracel.GetCompiler(dracel.Features{}).CompileCELExpression(text, dracel.Options{DisableCostEstimation: true})
}

// always matches every device whose attributes the library can read.
var always = sync.OnceValue(func() dracel.CompilationResult { return compileStored("true") })

// scalarAttributes is the environment in which attributes are of an unknown type, but no lists, as it was for stored
// expressions before Kubernetes 1.37.
var scalarAttributes = sync.OnceValues(func() (*cel.Env, error) {
	kind := environment.NewExpressions
	result := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true}).
		CompileCELExpression("true", dracel.Options{DisableCostEstimation: true, EnvType: &kind})
	if result.Error != nil {
		return nil, result.Error
	}
	return result.Environment.Extend(library.IncludesOption())
})

// withoutLists is why an expression that compiles today does not compile where attributes are no lists.
func withoutLists(text string) string {
	env, err := scalarAttributes()
	if err != nil {
		return "" // a slip of the library: not a fault of the expression
	}
	if _, issues := env.Compile(text); issues.Err() != nil {
		return "compilation failed: " + issues.String()
	}
	return ""
}

// Matches evaluates the selector on a device. There is more than one error where the library names whichever it meets
// first, in no order.
func (c Compiled) Matches(d dracel.Device) (bool, []error) {
	if c.Detail != "" {
		return false, []error{errors.New(c.Detail)}
	}
	if broken := c.library.unreadable(d); len(broken) > 0 {
		return false, broken
	}
	match, _, err := c.DeviceMatches(context.Background(), d)
	if err != nil {
		return false, []error{err}
	}
	return match, nil
}

// unreadable lists the errors about attributes that fail every selector, by the name of the attribute.
func (l Library) unreadable(d dracel.Device) []error {
	var out []error
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		a := d.Attributes[name]
		switch {
		case Scalar(a):
		case !l.Lists && list(a):
			out = append(out, &ListError{Attribute: name})
		default:
			alone := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{name: a}
			_, _, err := always().DeviceMatches(context.Background(),
				dracel.Device{Driver: d.Driver, Attributes: alone})
			if err != nil {
				out = append(out, err)
			}
		}
	}
	return out
}

// ListError says that an attribute is a list, which the library can't read: no selector works on that device.
type ListError struct{ Attribute resourcev1.QualifiedName }

// Error is the text of the library.
func (e *ListError) Error() string {
	return fmt.Sprintf("attribute %s: unsupported attribute value", e.Attribute)
}

// Scalar tells that a value can be read by every library: a string, a number or a boolean.
func Scalar(a resourcev1.DeviceAttribute) bool {
	return !list(a) && (a.StringValue != nil || a.IntValue != nil || a.BoolValue != nil)
}

func list(a resourcev1.DeviceAttribute) bool {
	return a.StringValues != nil || a.IntValues != nil || a.BoolValues != nil || a.VersionValues != nil
}
