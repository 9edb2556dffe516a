package rulepack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// compiled is a rule ready to be applied.
type compiled struct {
	of       *Rule
	document *document
	index    int

	kinds                   []schema.GroupKind
	labels, namespaceLabels labels.Selector

	expression, message, path cel.Program
	// uses are what the expressions name: variables, their fields as `cluster.mappings`, and fields of anything as
	// `.total`.
	uses map[string]bool
}

// compile compiles the expressions of the rule.
func (c *compiled) compile(env *environment) Errors {
	c.uses = map[string]bool{}
	var problems Errors
	for _, one := range []struct {
		field, text string
		types       []*cel.Type
		into        *cel.Program
	}{
		{"expression", c.of.Expression, []*cel.Type{cel.BoolType}, &c.expression},
		{"messageExpression", c.of.MessageExpression, []*cel.Type{cel.StringType}, &c.message},
		{"pathExpression", c.of.PathExpression, []*cel.Type{cel.StringType, cel.ListType(cel.StringType)}, &c.path},
	} {
		if strings.TrimSpace(one.text) == "" {
			continue
		}
		program, errs := c.program(env, one.field, one.text, one.types)
		*one.into = program
		problems = append(problems, errs...)
	}
	if len(problems) == 0 {
		problems = c.misused()
	}
	return problems
}

func (c *compiled) program(env *environment, field, text string, types []*cel.Type) (cel.Program, Errors) {
	at := []any{"spec", "rules", c.index, field}
	ast, issues := env.Compile(text)
	var problems Errors
	for _, e := range issues.Errors() {
		problems = append(problems,
			c.document.inside(c.of.ID, field+": "+strings.TrimSuffix(oneLine(e.Message), " (in container '')"),
				e.Location.Line(), e.Location.Column(), at...))
	}
	if len(problems) > 0 {
		return nil, problems
	}
	fits := func(t *cel.Type) bool { return t.IsAssignableType(ast.OutputType()) }
	// what is dynamic is checked when it is evaluated
	if !slices.ContainsFunc(types, fits) && !ast.OutputType().IsExactType(cel.DynType) {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = t.String()
		}
		return nil, Errors{c.document.at(c.of.ID,
			fmt.Sprintf("%s: it gives %s, and must give %s", field, ast.OutputType(),
				strings.Join(names, " or ")), at...)}
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit),
		cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, Errors{c.document.at(c.of.ID, field+": "+oneLine(err.Error()), at...)}
	}
	c.note(ast)
	return program, nil
}

// note records what an expression names.
func (c *compiled) note(ast *cel.Ast) {
	celast.PostOrderVisit(ast.NativeRep().Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		switch e.Kind() {
		case celast.IdentKind:
			c.uses[e.AsIdent()] = true
		case celast.SelectKind:
			c.uses["."+e.AsSelect().FieldName()] = true
			if on := e.AsSelect().Operand(); on.Kind() == celast.IdentKind {
				c.uses[on.AsIdent()+"."+e.AsSelect().FieldName()] = true
			}
		}
	}))
}

// misused finds variables of workloads in rules about other kinds.
func (c *compiled) misused() Errors {
	for _, gk := range c.kinds {
		if isWorkload(gk) {
			continue
		}
		for _, name := range []string{varCharge, varQueue} {
			if c.uses[name] {
				return Errors{c.document.at(c.of.ID,
					fmt.Sprintf("%s is a variable of workloads, and a %s is none", name,
						gk.Kind), "spec", "rules", c.index, "match", "kinds")}
			}
		}
	}
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
