package device

import (
	"context"
	"errors"

	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// Expression is one compiled CEL selector.
type Expression struct {
	// Text as written.
	Text string
	// CompileError is the compiler's detail, empty when the expression compiled.
	CompileError string

	program dracel.CompilationResult
	reads   reads
	results map[*shape]outcome
}

// outcome of an expression (or a row of them) on a shape.
type outcome struct {
	match bool
	err   error
}

// compileExpression compiles as Kueue does: stored-expression environment, no optional features.
func compileExpression(text string) *Expression {
	e := &Expression{Text: text, results: map[*shape]outcome{}}
	e.program = dracel.GetCompiler(dracel.Features{}).CompileCELExpression(text, dracel.Options{DisableCostEstimation: true})
	if e.program.Error != nil {
		e.CompileError = e.program.Error.Detail
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
	if e.CompileError != "" {
		o.err = errors.New(e.CompileError)
	} else {
		o.match, _, o.err = e.program.DeviceMatches(context.Background(), dracel.Device{
			Driver: s.driver, Attributes: s.attributes.Map(), Capacity: s.capacity,
		})
	}
	e.results[s] = o
	return o
}
