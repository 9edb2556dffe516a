package device

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	resourcev1 "k8s.io/api/resource/v1"
)

// reads is what an expression can see of a device besides its driver. Devices that agree in it give
// the same result. It may be larger than the truth, never smaller.
type reads struct {
	attributes, capacity fields
}

// fields of one of the two maps of a device: everything, whole domains, or single qualified names.
type fields struct {
	all     bool
	domains map[string]bool
	names   map[name]bool
}

// name of an attribute or capacity: CEL sees every one of them below a domain.
type name struct{ domain, id string }

// covers tells that f sees everything o sees.
func (f fields) covers(o fields) bool {
	if f.all {
		return true
	}
	if o.all {
		return false
	}
	for d := range o.domains {
		if !f.domains[d] {
			return false
		}
	}
	for n := range o.names {
		if !f.names[n] && !f.domains[n.domain] {
			return false
		}
	}
	return true
}

func (f *fields) add(o fields) {
	f.all = f.all || o.all
	for d := range o.domains {
		f.domain(d)
	}
	for n := range o.names {
		f.name(n)
	}
}

func (f *fields) domain(d string) {
	if f.domains == nil {
		f.domains = map[string]bool{}
	}
	f.domains[d] = true
}

func (f *fields) name(n name) {
	if f.names == nil {
		f.names = map[name]bool{}
	}
	f.names[n] = true
}

// sees tells whether the field of a device of this driver is visible.
func (f fields) sees(q resourcev1.QualifiedName, driver string) bool {
	if f.all {
		return true
	}
	n := qualify(q, driver)
	return f.domains[n.domain] || f.names[n]
}

// exactly lists the names a driver's devices can have for what is visible, sorted: each name with and
// without the driver's domain. ok is false when whole domains are visible.
func (f fields) exactly(driver string) (names []resourcev1.QualifiedName, ok bool) {
	if f.all || len(f.domains) > 0 {
		return nil, false
	}
	for n := range f.names {
		if n.domain == driver {
			names = append(names, resourcev1.QualifiedName(n.id))
		}
		names = append(names, resourcev1.QualifiedName(n.domain+"/"+n.id))
	}
	slices.Sort(names)
	return names, true
}

// lens yields the visible keys of the maps of one driver's devices, in the same order for equal content.
type lens struct {
	fields fields
	driver string
	names  []resourcev1.QualifiedName
	exact  bool
}

func newLens(f fields, driver string) lens {
	l := lens{fields: f, driver: driver}
	l.names, l.exact = f.exactly(driver)
	return l
}

// sees tells whether an attribute is visible.
func (l lens) sees(q resourcev1.QualifiedName) bool {
	if l.exact {
		return slices.Contains(l.names, q) // a few
	}
	return l.fields.sees(q, l.driver)
}

// visible calls visit for the visible entries of a map.
func visible[V any](l lens, m map[resourcev1.QualifiedName]V, visit func(resourcev1.QualifiedName, V)) {
	if l.exact {
		for _, q := range l.names {
			if v, ok := m[q]; ok {
				visit(q, v)
			}
		}
		return
	}
	var keys []resourcev1.QualifiedName
	for q := range m {
		if l.fields.sees(q, l.driver) {
			keys = append(keys, q)
		}
	}
	slices.Sort(keys)
	for _, q := range keys {
		visit(q, m[q])
	}
}

// qualify splits a qualified name; a bare one belongs to the driver's domain.
func qualify(q resourcev1.QualifiedName, driver string) name {
	if domain, id, ok := strings.Cut(string(q), "/"); ok {
		return name{domain, id}
	}
	return name{driver, string(q)}
}

func (r reads) covers(o reads) bool {
	return r.attributes.covers(o.attributes) && r.capacity.covers(o.capacity)
}

func (r *reads) add(o reads) {
	r.attributes.add(o.attributes)
	r.capacity.add(o.capacity)
}

func everything() reads { return reads{fields{all: true}, fields{all: true}} }

// readsOf finds what an expression can see by walking its syntax tree. Any use of the device that is
// not a plain access to a known field makes the whole map, or everything, visible.
func readsOf(env *cel.Env, text string) reads {
	parsed, issues := env.Parse(text)
	if issues != nil && issues.Err() != nil {
		return everything()
	}
	var r reads
	r.walk(parsed.NativeRep().Expr())
	return r
}

func (r *reads) walk(e ast.Expr) {
	if n, f, ok := r.access(e); ok {
		f.name(n)
		return
	}
	if f, domain, ok := r.domainOf(e); ok {
		f.domain(domain)
		return
	}
	if f := r.mapOf(e); f != nil {
		f.all = true
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == "device" {
			r.add(everything())
		}
	case ast.SelectKind:
		if s := e.AsSelect(); isDevice(s.Operand()) {
			return // driver and allowMultipleAllocations are no part of the maps
		}
		r.walk(e.AsSelect().Operand())
	case ast.CallKind:
		r.walkCall(e.AsCall())
	case ast.ListKind:
		for _, x := range e.AsList().Elements() {
			r.walk(x)
		}
	case ast.MapKind:
		for _, x := range e.AsMap().Entries() {
			r.walk(x.AsMapEntry().Key())
			r.walk(x.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, x := range e.AsStruct().Fields() {
			r.walk(x.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		for _, x := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			r.walk(x)
		}
	}
}

func (r *reads) walkCall(c ast.CallExpr) {
	// "id" in device.attributes["domain"] sees that one name.
	if args := c.Args(); c.FunctionName() == operators.In && len(args) == 2 {
		if id, ok := text(args[0]); ok {
			if f, domain, ok := r.domainOf(args[1]); ok {
				f.name(name{domain, id})
				return
			}
		}
	}
	if c.IsMemberFunction() {
		r.walk(c.Target())
	}
	for _, x := range c.Args() {
		r.walk(x)
	}
}

// access recognises device.attributes["domain"].id in all its spellings.
func (r *reads) access(e ast.Expr) (name, *fields, bool) {
	operand, id, ok := member(e)
	if !ok {
		return name{}, nil, false
	}
	f, domain, ok := r.domainOf(operand)
	return name{domain, id}, f, ok
}

// domainOf recognises device.attributes["domain"] and device.capacity["domain"].
func (r *reads) domainOf(e ast.Expr) (*fields, string, bool) {
	operand, domain, ok := member(e)
	if !ok {
		return nil, "", false
	}
	f := r.mapOf(operand)
	return f, domain, f != nil
}

// mapOf recognises device.attributes and device.capacity.
func (r *reads) mapOf(e ast.Expr) *fields {
	operand, field, ok := member(e)
	if !ok || !isDevice(operand) {
		return nil
	}
	switch field {
	case "attributes":
		return &r.attributes
	case "capacity":
		return &r.capacity
	}
	return nil
}

// member recognises x.id, x["id"] and their optional forms x.?id, x[?"id"].
func member(e ast.Expr) (operand ast.Expr, id string, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		c := e.AsCall()
		switch c.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			if len(c.Args()) == 2 {
				id, ok = text(c.Args()[1])
				return c.Args()[0], id, ok
			}
		}
	}
	return nil, "", false
}

func isDevice(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "device" }

// text returns a string literal's value.
func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// clone copies the sets, so that the union can grow without touching an expression's own.
func (r reads) clone() reads {
	r.attributes.domains, r.attributes.names = maps.Clone(r.attributes.domains), maps.Clone(r.attributes.names)
	r.capacity.domains, r.capacity.names = maps.Clone(r.capacity.domains), maps.Clone(r.capacity.names)
	return r
}
