package device

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// Use is one place in a selector where it looks at a device: at its driver, an attribute or a capacity.
type Use struct {
	// Map is driver, attributes or capacity.
	Map string
	// Domain and ID as written: attributes["gpu.example.com"].type has both, attributes["memory"] no ID.
	Domain, ID string
	// After are the members that are selected from it, as in attributes["gpu.example.com"].model.string.
	After []string
	// Operator it is compared by (==, !=, <, <=, >, >=), or Method that is called on it; empty for neither.
	Operator, Method string
	// Literal it is compared with, as text, and Type of that literal: string, number, bool, or the function around a
	// string, such as quantity.
	Literal, Type string
	// Tested tells that only its presence is asked for, by has() or in.
	Tested bool
}

// selectorEnv parses selectors, also those that do not compile.
var selectorEnv = sync.OnceValue(func() *cel.Env {
	return dracel.GetCompiler(dracel.Features{}).CompileCELExpression("true",
		dracel.Options{DisableCostEstimation: true}).Environment
})

// Uses lists where a selector looks at a device, in the order of its text as far as that is plain. It is nil for text
// that can't be parsed.
func Uses(text string) []Use {
	env := selectorEnv()
	if env == nil {
		return nil
	}
	parsed, issues := env.Parse(text)
	if issues != nil && issues.Err() != nil {
		return nil
	}
	u := &users{}
	u.walk(parsed.NativeRep().Expr(), Use{})
	return u.found
}

type users struct{ found []Use }

// comparisons are the operators of CEL by the names of their functions.
var comparisons = map[string]string{
	operators.Equals: "==", operators.NotEquals: "!=", operators.Less: "<", operators.LessEquals: "<=",
	operators.Greater: ">", operators.GreaterEquals: ">=",
}

// walk visits an expression; context says what is done with it.
func (u *users) walk(e ast.Expr, context Use) {
	if use, ok := useOf(e); ok {
		use.Operator, use.Method, use.Literal, use.Type = context.Operator, context.Method, context.Literal,
			context.Type
		use.Tested = use.Tested || context.Tested
		u.found = append(u.found, use)
		return
	}
	switch e.Kind() {
	case ast.CallKind:
		u.call(e.AsCall())
	case ast.SelectKind:
		u.walk(e.AsSelect().Operand(), Use{Tested: e.AsSelect().IsTestOnly()})
	case ast.ListKind:
		for _, x := range e.AsList().Elements() {
			u.walk(x, Use{})
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		for _, x := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			u.walk(x, Use{})
		}
	}
}

func (u *users) call(c ast.CallExpr) {
	args := c.Args()
	operator, compares := comparisons[c.FunctionName()]
	switch {
	case compares && len(args) == 2:
		for i, x := range args {
			literal, kind := literalOf(args[1-i])
			u.walk(x, Use{Operator: operator, Literal: literal, Type: kind})
		}
	case c.FunctionName() == operators.In && len(args) == 2:
		u.walk(args[1], Use{Tested: true})
	case c.IsMemberFunction():
		context := Use{Method: c.FunctionName()}
		if len(args) == 1 {
			context.Literal, context.Type = literalOf(args[0])
		}
		u.walk(c.Target(), context)
		for _, x := range args {
			u.walk(x, Use{})
		}
	default:
		for _, x := range args {
			u.walk(x, Use{})
		}
	}
}

// literalOf reads a literal, or a function of one string literal.
func literalOf(e ast.Expr) (value, kind string) {
	switch e.Kind() {
	case ast.LiteralKind:
		if s, ok := text(e); ok {
			return s, "string"
		}
		switch v := e.AsLiteral().Value().(type) {
		case bool:
			return map[bool]string{true: "true", false: "false"}[v], "bool"
		default:
			return "", "number"
		}
	case ast.CallKind:
		if c := e.AsCall(); len(c.Args()) == 1 && !c.IsMemberFunction() {
			if s, ok := text(c.Args()[0]); ok {
				return s, c.FunctionName()
			}
		}
	}
	return "", ""
}

// useOf recognises device.driver, and a chain of members that begins with device.attributes or device.capacity.
func useOf(e ast.Expr) (Use, bool) {
	var members []string
	tested := false
	for {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
			tested = true
		}
		operand, id, ok := member(e)
		if !ok {
			return Use{}, false
		}
		members = append([]string{id}, members...)
		if isDevice(operand) {
			break
		}
		e = operand
	}
	use := Use{Map: members[0], Tested: tested}
	if use.Map != "driver" && use.Map != "attributes" && use.Map != "capacity" {
		return Use{}, false
	}
	for i, m := range members[1:] {
		switch i {
		case 0:
			use.Domain = m
		case 1:
			use.ID = m
		default:
			use.After = append(use.After, m)
		}
	}
	return use, true
}

// CompileNew compiles a selector as the API server does for new objects, which knows no expression that only stored
// ones may have. The result is the compiler's detail; empty when it compiles. tooExpensive tells that it does, but may
// cost more than is allowed.
func CompileNew(text string) (detail string, tooExpensive bool) {
	kind := environment.NewExpressions
	result := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true}).CompileCELExpression(text,
		dracel.Options{EnvType: &kind})
	if result.Error != nil {
		return result.Error.Detail, false
	}
	return "", result.MaxCost > resourcev1.CELSelectorExpressionMaxCost
}
