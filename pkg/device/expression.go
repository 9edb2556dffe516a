package device

import (
	"slices"

	dracel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
)

// Expression is one compiled CEL selector.
type Expression struct {
	// Text as written.
	Text string
	// CompileError is the compiler's detail, empty when the expression compiled.
	CompileError string

	program selector.Compiled
	reads   reads
	results map[*shape]outcome
}

// outcome of an expression (or a row of them) on a shape.
type outcome struct {
	match bool
	// errs is empty, or holds the errors of which the evaluation gives any one.
	errs []error
}

func compileExpression(library selector.Library, text string) *Expression {
	e := &Expression{Text: text, results: map[*shape]outcome{}}
	e.program = library.Compile(text)
	if e.CompileError = e.program.Detail; e.CompileError != "" {
		return e
	}
	e.reads = readsOf(e.program.Environment, text)
	return e
}

// on evaluates the expression on a shape, once.
func (e *Expression) on(s *shape) outcome {
	if o, ok := e.results[s]; ok {
		return o
	}
	var o outcome
	o.match, o.errs = e.program.Matches(dracel.Device{
		Driver: s.driver, Attributes: s.attributes.Map(), Capacity: s.capacity,
	})
	e.results[s] = o
	return o
}

// same tells that two lists of errors say the same.
func same(a, b []error) bool {
	return slices.EqualFunc(a, b, func(x, y error) bool { return x.Error() == y.Error() })
}
