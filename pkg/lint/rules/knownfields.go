package rules

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// fieldTree is what a Go type knows of JSON: the fields of a struct, or the type of what a list or map holds. It is nil
// for what may hold anything, such as a quantity.
type fieldTree struct {
	fields map[string]*fieldTree
	each   *fieldTree
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// fieldTrees remembers the trees by type: types hold themselves.
type fieldTrees map[reflect.Type]*fieldTree

func (known fieldTrees) of(t reflect.Type) *fieldTree {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	if tree, ok := known[t]; ok {
		return tree
	}
	switch t.Kind() {
	case reflect.Struct:
		tree := &fieldTree{fields: map[string]*fieldTree{}}
		known[t] = tree
		known.addFields(tree, t)
		return tree
	case reflect.Slice, reflect.Array, reflect.Map:
		tree := &fieldTree{}
		known[t] = tree
		tree.each = known.of(t.Elem())
		return tree
	}
	return nil
}

// addFields adds the fields of a struct, and those of the structs that it embeds without a name.
func (known fieldTrees) addFields(tree *fieldTree, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch {
		case name == "-":
		case name == "" && f.Anonymous && of.Kind() == reflect.Struct:
			known.addFields(tree, of)
		case name == "":
			tree.fields[f.Name] = known.of(f.Type)
		default:
			tree.fields[name] = known.of(f.Type)
		}
	}
}

// knowsAll tells that each key of a JSON text is a field that the tree knows. It answers false where it is not sure.
func (tree *fieldTree) knowsAll(data []byte) bool {
	s := keyScanner{data}
	return s.value(tree) && len(bytes.TrimLeft(s.rest, " \t\r\n")) == 0
}

// keyScanner reads JSON that is known to be valid, without building anything.
type keyScanner struct{ rest []byte }

// next takes the next byte that is not white space; 0 at the end.
func (s *keyScanner) next() byte {
	s.rest = bytes.TrimLeft(s.rest, " \t\r\n")
	if len(s.rest) == 0 {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

// text takes the rest of a string. A string with escapes is not looked into.
func (s *keyScanner) text() (text []byte, plain bool) {
	end := 0
	for end < len(s.rest) && s.rest[end] != '"' {
		if s.rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s.rest) {
		return nil, false
	}
	text = s.rest[:end]
	s.rest = s.rest[end+1:]
	return text, bytes.IndexByte(text, '\\') < 0
}

func (s *keyScanner) value(tree *fieldTree) bool {
	switch c := s.next(); c {
	case '{':
		return s.object(tree)
	case '[':
		return s.list(tree)
	case '"':
		_, ok := s.text()
		return ok || len(s.rest) > 0
	case 0:
		return false
	}
	n := bytes.IndexAny(s.rest, ",]}")
	if n < 0 {
		return false
	}
	s.rest = s.rest[n:]
	return true
}

func (s *keyScanner) object(tree *fieldTree) bool {
	for c := s.next(); c != '}'; c = s.next() {
		if c == ',' {
			c = s.next()
		}
		name, plain := s.text()
		if c != '"' || !plain || s.next() != ':' {
			return false
		}
		var child *fieldTree
		if tree != nil && tree.fields != nil {
			field, known := tree.fields[string(name)]
			if !known {
				return false
			}
			child = field
		} else if tree != nil {
			child = tree.each
		}
		if !s.value(child) {
			return false
		}
	}
	return true
}

func (s *keyScanner) list(tree *fieldTree) bool {
	var each *fieldTree
	if tree != nil {
		each = tree.each
	}
	for {
		s.rest = bytes.TrimLeft(s.rest, " \t\r\n")
		switch {
		case len(s.rest) == 0:
			return false
		case s.rest[0] == ']':
			s.rest = s.rest[1:]
			return true
		case s.rest[0] == ',':
			s.rest = s.rest[1:]
		}
		if !s.value(each) {
			return false
		}
	}
}
