package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// object is what is known about a JSON object while it is being read.
type object struct {
	start        int64
	line, column int
	// indent is the white space before the object on its line, -1 when other text stands there.
	indent int

	typeMeta
	fields int
	// emptyItems tells that items is null.
	emptyItems bool
	// metadata stands between metaStart and metaEnd; metaEnd is 0 when there is none.
	metaStart, metaEnd int64
	meta               listMeta
}

// listMeta is the part of a list's metadata that matters. Continue is set when more pages follow.
type listMeta struct {
	Continue        string `json:"continue"`
	ResourceVersion string `json:"resourceVersion"`
}

// itemType is the type of the elements of a typed list, empty for every other object.
func (o *object) itemType() typeMeta {
	if kind, ok := strings.CutSuffix(o.kind, "List"); ok && kind != "" {
		return typeMeta{o.apiVersion, kind}
	}
	return typeMeta{}
}

func isListKind(kind string) bool { return strings.HasSuffix(kind, "List") }

// found is an object that was read to its end.
type found struct {
	object
	end int64
	// raw is its text: in the window, or a copy of its own. nil when it was too large to keep.
	raw  []byte
	own  bool
	path string
}

// begin notes where the object at pos starts.
func (r *jsonReader) begin() object {
	w := r.w
	line := w.line(w.pos)
	o := object{start: w.offset(), line: line, indent: w.indent(w.pos)}
	o.column = int(o.start-w.lineStart) + 1
	return o
}

// object reads the object at pos. When it turns out to be a list, it opens the list.
func (r *jsonReader) object() {
	w, o := r.w, r.begin()
	if l := r.top(); l != nil {
		l.indent = o.indent
	}
	w.keep, w.lost = w.pos, false
	w.pos++
	end, err := r.fields(&o)
	switch {
	case err != nil:
		r.dropped()
		r.recover(&o, err)
	case end == listStarts:
		env := o
		r.lists = append(r.lists, &list{env: &env, indent: -1})
	default:
		r.take(o)
	}
	w.keep = -1
}

type ending int

const (
	objectEnds ending = iota
	listStarts
)

// fields reads the fields of an object up to its end, or up to the first element of its items when it is a list.
func (r *jsonReader) fields(o *object) (ending, error) {
	w := r.w
	for {
		c, ok := w.next()
		if ok && c == '}' {
			w.pos++
			return objectEnds, nil
		}
		if ok && o.fields > 0 {
			if c != ',' {
				return 0, w.unexpected("',' or '}'")
			}
			w.pos++
			c, ok = w.next()
		}
		if !ok {
			return 0, errEnd
		}
		if c != '"' {
			return 0, w.unexpected("a quoted key")
		}
		key, err := w.readString()
		if err != nil {
			return 0, err
		}
		read := fieldReaders[string(key)]
		if c, ok = w.next(); ok && c == ':' {
			w.pos++
			c, ok = w.next()
		} else if ok {
			return 0, w.unexpected("':'")
		}
		if !ok {
			return 0, errEnd
		}
		o.fields++
		if read == nil {
			err = w.skipValue()
		} else if list, readErr := read(r, o, c); list {
			return listStarts, nil
		} else {
			err = readErr
		}
		if err != nil {
			return 0, err
		}
	}
}

// fieldReaders read the values of the fields that tell what an object is. They report true at the first element of a
// list.
var fieldReaders = map[string]func(r *jsonReader, o *object, first byte) (bool, error){
	"apiVersion": func(r *jsonReader, o *object, c byte) (bool, error) { return false, r.readName(&o.apiVersion, c) },
	"kind":       func(r *jsonReader, o *object, c byte) (bool, error) { return false, r.readName(&o.kind, c) },
	"metadata":   (*jsonReader).readMeta,
	"items":      (*jsonReader).readItems,
}

func (r *jsonReader) readName(into *string, c byte) error {
	if c != '"' {
		*into = ""
		return r.w.skipValue()
	}
	text, err := r.w.readString()
	*into = r.names.intern(text)
	return err
}

func (r *jsonReader) readMeta(o *object, _ byte) (bool, error) {
	w := r.w
	o.metaStart = w.offset()
	if w.keep >= 0 {
		err := w.skipValue()
		o.metaEnd = w.offset()
		return false, err
	}
	// The elements of the list are behind us: this is the list's own metadata.
	w.keep = w.pos
	err := w.skipValue()
	o.metaEnd = w.offset()
	if err == nil {
		r.listMeta(o)
	}
	w.keep, w.lost = -1, false
	return false, err
}

func (r *jsonReader) readItems(o *object, c byte) (bool, error) {
	w := r.w
	if c != '[' || !r.mayBeList(o) {
		o.emptyItems = c == 'n'
		return false, w.skipValue()
	}
	r.listMeta(o)
	w.pos++
	w.keep = -1
	return true, nil
}

// mayBeList tells whether an object with an items array is a list, as far as is known yet.
func (r *jsonReader) mayBeList(o *object) bool {
	if o.kind != "" {
		return isListKind(o.kind)
	}
	// An element of a typed list that does not tell its kind is of the list's kind.
	top := r.top()
	return top == nil || top.env == nil || top.env.itemType().kind == ""
}

// listMeta decodes the metadata of a list while it is still in the window.
func (r *jsonReader) listMeta(o *object) {
	if o.metaEnd == 0 || o.metaStart < r.w.base {
		return
	}
	// A list that is not to be trusted decodes to nothing, which reads as complete; its shape was checked.
	_ = json.Unmarshal(r.w.buf[o.metaStart-r.w.base:o.metaEnd-r.w.base], &o.meta)
}

// take handles an object that was read to its end.
func (r *jsonReader) take(o object) {
	f := found{object: o, end: r.w.offset()}
	if r.w.keep >= 0 {
		f.raw = r.w.buf[r.w.keep:r.w.pos]
	}
	if o.apiVersion != "" && o.kind != "" {
		r.settle(f, typeMeta{})
		return
	}
	l := r.top()
	if l == nil || l.env == nil {
		r.settle(f, r.stamp)
		return
	}
	if typed := l.env.itemType(); typed.kind != "" && typed.apiVersion != "" || l.env.kind == "List" {
		r.settle(f, typed)
		return
	}
	if l.held += len(f.raw); l.held > maxWaiting {
		l.broken = true
		r.out.problem(r.place.line(r, o.line), "the list tells its kind only after its items, and is too large to "+
			"wait for it")
		return
	}
	f.raw, f.own = bytes.Clone(f.raw), true
	f.path = r.path()
	l.waiting = append(l.waiting, f)
}

// settle decides what becomes of an object, given the type of the list around it.
func (r *jsonReader) settle(f found, typed typeMeta) {
	given := f.typeMeta
	if f.apiVersion == "" {
		f.apiVersion = typed.apiVersion
	}
	if f.kind == "" {
		f.kind = typed.kind
	}
	line := func() int { return r.place.line(r, f.line) }
	switch {
	case f.apiVersion == "" && f.kind == "":
		// Not a Kubernetes object: Helm values, a Compose file.
	case f.apiVersion == "" || f.kind == "":
		r.halfTyped(f, line())
	case f.kind == "List":
		// A list without items.
	case isListKind(f.kind) && f.emptyItems:
		r.finish(&list{env: &f.object})
	case !r.out.want(f.typeMeta):
	case f.raw == nil:
		r.dropped()
		r.out.problem(line(), fmt.Sprintf("%s is larger than %d MiB and is not read", f.kind, maxObject>>20))
	case !utf8.Valid(f.raw):
		r.dropped()
		r.out.problem(line()+bytes.Count(f.raw[:firstInvalid(f.raw)], newline), f.kind+
			" is not valid UTF-8 and is not read")
	default:
		text := stamped(f.raw, given, f.typeMeta, f.own)
		r.out.document(f.typeMeta, text, r.place.origin(r, f, text))
	}
}

// dropped notes that an element of the current list could not be used.
func (r *jsonReader) dropped() {
	if l := r.top(); l != nil {
		l.broken = true
	}
}

func (r *jsonReader) halfTyped(f found, line int) {
	// A Helm chart's Chart.yaml and many other files have one of the two, but only an API object has metadata.
	if f.metaEnd == 0 || notKubernetes[filepath.Base(r.out.file)] {
		return
	}
	r.dropped()
	if f.kind == "" {
		r.out.problem(line, fmt.Sprintf("an object with apiVersion %q has no kind", f.apiVersion))
		return
	}
	r.out.problem(line, fmt.Sprintf("an object of kind %q has no apiVersion", f.kind))
}

// notKubernetes are files in which a kind may stand alone, beside metadata.
var notKubernetes = map[string]bool{
	"kustomization.yaml": true, "kustomization.yml": true, "Kustomization": true,
}

// stamped returns a copy of an object's text in which the type is told.
func stamped(raw []byte, given, t typeMeta, own bool) []byte {
	if given == t {
		if own {
			return raw
		}
		return bytes.Clone(raw)
	}
	out := make([]byte, 0, len(raw)+len(t.apiVersion)+len(t.kind)+len(`"apiVersion":"","kind":"",`)+8)
	out = append(out, '{')
	if given.apiVersion == "" {
		out = appendField(out, "apiVersion", t.apiVersion)
	}
	if given.kind == "" {
		out = appendField(out, "kind", t.kind)
	}
	rest := bytes.TrimLeft(raw[1:], " \t\r\n")
	if rest[0] == '}' {
		out = out[:len(out)-1]
	}
	return append(out, raw[1:]...)
}

func appendField(out []byte, key, value string) []byte {
	quoted, err := json.Marshal(value)
	if err != nil {
		return out
	}
	out = append(append(append(out, '"'), key...), '"', ':')
	return append(append(out, quoted...), ',')
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// names holds each apiVersion and kind once.
type names map[string]string

const maxNames, maxNameLength = 4096, 256

func (n *names) intern(text []byte) string {
	if known, ok := (*n)[string(text)]; ok {
		return known
	}
	name := string(text)
	if *n == nil {
		*n = names{}
	}
	if len(*n) < maxNames && len(name) <= maxNameLength {
		(*n)[name] = name
	}
	return name
}
