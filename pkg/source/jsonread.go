package source

import (
	"bytes"
	"fmt"
	"strings"
)

// jsonReader finds the objects of a JSON input: values one after another, lists, lists in lists.
// It holds one object at a time.
type jsonReader struct {
	w     *window
	out   *emitter
	place placer
	// stamp is the type of objects that neither tell their type nor stand in a typed list.
	stamp typeMeta
	// lists are the open lists, outermost first.
	lists []*list
	names names
	// onList is told about each typed list. The default reports complete ones to Sink.Listed.
	onList func(*object, bool)
}

type typeMeta struct{ apiVersion, kind string }

// placer makes origins, and translates lines of JSON to lines of the input.
type placer interface {
	// origin is given the object's own copy of its text, in which a type may have been added.
	origin(r *jsonReader, f found, text []byte) *Origin
	line(r *jsonReader, jsonLine int) int
}

// list is an array of objects that is being read.
type list struct {
	// env is the object that holds the array, nil for an array that stands by itself.
	env *object
	// index counts the elements begun; comma tells that the next element needs a comma before it.
	index  int
	comma  bool
	indent int
	// broken tells that an element could not be used, so that the list is not complete.
	broken bool
	// waiting are the elements that tell no type, until the list has told its own.
	waiting []found
	held    int
}

// maxWaiting bounds the bytes of elements that wait for the type of their list.
const maxWaiting = 256 << 20

// read reads until the end of the input. It returns true when what follows a `---` line is not JSON.
func (r *jsonReader) read() (yamlFollows bool) {
	for !r.out.full() {
		c, ok := r.w.next()
		top := r.top()
		switch {
		case !ok:
			r.ended()
			return false
		case top != nil && r.inList(top, c):
		case c == '{':
			r.object()
		case c == '[':
			r.w.pos++
			r.lists = append(r.lists, &list{indent: -1})
		case top == nil && c == '=' && r.skipLogs():
		case top == nil && c == '-' && r.separator():
			if c, ok := r.w.next(); ok && c != '{' && c != '[' && c != '-' {
				return true
			}
		default:
			r.notObject(c)
		}
	}
	return false
}

func (r *jsonReader) top() *list {
	if len(r.lists) == 0 {
		return nil
	}
	return r.lists[len(r.lists)-1]
}

// inList handles what stands between the elements of a list. It reports false at the start of an element.
func (r *jsonReader) inList(l *list, c byte) bool {
	switch {
	case c == ']':
		if l.index > 0 && !l.comma {
			r.problem(r.w.pos, "invalid JSON: a comma at the end of a list")
		}
		r.w.pos++
		r.closeList(l)
		return true
	case c == ',' && l.comma:
		r.w.pos++
		l.comma = false
		return true
	case l.comma && c == '{':
		r.problem(r.w.pos, "invalid JSON: a comma is missing between two objects of a list")
	}
	l.comma = true
	l.index++
	if c == '[' {
		r.notObject(c)
	}
	return c == '['
}

// closeList ends the list behind its closing bracket and reads what is left of the object around it.
func (r *jsonReader) closeList(l *list) {
	if l.env == nil {
		r.pop()
		return
	}
	// Only the list's type and metadata matter now; they are small.
	switch end, err := r.fields(l.env); {
	case err != nil:
		l.broken = true
		r.finish(l)
		r.pop()
		r.recover(l.env, err)
	case end == listStarts:
		// A second items array: its elements count like those of the first.
		l.comma = false
	default:
		r.finish(l)
		r.pop()
	}
}

func (r *jsonReader) pop() {
	r.lists[len(r.lists)-1] = nil
	r.lists = r.lists[:len(r.lists)-1]
}

// finish gives the elements that waited the type of the list, and tells that the list is complete.
func (r *jsonReader) finish(l *list) {
	typed := l.env.itemType()
	for _, f := range l.waiting {
		r.settle(f, typed)
	}
	if l.env.kind != "" && !isListKind(l.env.kind) && r.out.want(typeMeta{l.env.apiVersion, l.env.kind}) {
		r.out.problem(r.place.line(r, l.env.line),
			fmt.Sprintf("%s has an items array and cannot be told from a list", l.env.kind))
	}
	if typed.kind == "" {
		return
	}
	if r.onList != nil {
		r.onList(l.env, !l.broken)
	} else if !l.broken && l.env.meta.Continue == "" {
		r.out.sink.Listed(typed.apiVersion, typed.kind)
	}
}

// ended handles the end of the input, which may be too early.
func (r *jsonReader) ended() {
	switch {
	case r.w.err != nil:
		r.problem(r.w.pos, "cannot read on: "+r.w.err.Error())
		r.out.brokeOff(r.out.file + ": " + r.w.err.Error())
	case r.top() != nil:
		r.problem(r.w.pos, "the input ends in the middle of a list: the objects after this place are missing")
		r.out.brokeOff(r.out.file + ": the input ends in the middle of a list")
	}
	r.dropLists()
}

// separator skips a line of `---`.
func (r *jsonReader) separator() bool {
	w := r.w
	if !w.have(3) || string(w.buf[w.pos:w.pos+3]) != "---" {
		return false
	}
	w.pos += 3
	if c, ok := w.next(); ok && c == '#' {
		w.skipLine()
	}
	return true
}

// Lines that begin and end the logs of a container in what `kubectl cluster-info dump` prints.
const logsBegin, logsEnd = "==== START logs for container ", "==== END logs for container "

// skipLogs skips the logs of a container, which stand between the lists of a cluster-info dump. It reports false for
// anything else.
func (r *jsonReader) skipLogs() bool {
	w := r.w
	if !w.have(len(logsBegin)) || string(w.buf[w.pos:w.pos+len(logsBegin)]) != logsBegin {
		return false
	}
	for w.have(1) && r.out.ctx.Err() == nil {
		// A last line of the logs without a line break stands before the mark.
		if w.buf[w.pos] == '=' && w.have(len(logsEnd)) && string(w.buf[w.pos:w.pos+len(logsEnd)]) == logsEnd {
			w.skipLine()
			return true
		}
		if next := bytes.IndexByte(w.buf[w.pos+1:], '='); next >= 0 {
			w.pos += 1 + next
		} else {
			w.pos = len(w.buf)
		}
	}
	if w.err == nil {
		r.problem(w.pos, "the input ends in the middle of the logs of a container: what should follow is missing")
		r.out.brokeOff(r.out.file + ": the input ends in the middle of the logs of a container")
	}
	return true
}

// skipLine moves pos to the next line break.
func (w *window) skipLine() {
	for {
		for w.pos < len(w.buf) {
			if w.buf[w.pos] == '\n' {
				return
			}
			w.pos++
		}
		if !w.fill() {
			return
		}
	}
}

// notObject reports a value that is not an object, and skips it.
func (r *jsonReader) notObject(c byte) {
	w := r.w
	o := r.begin()
	r.dropped()
	if err := w.skipValue(); err != nil {
		r.recover(&o, err)
		return
	}
	if r.top() == nil && !strings.ContainsRune("[{\"", rune(c)) {
		// A bare word at the top level is no JSON document: look for the next line that is.
		r.recover(&o, syntaxf("expected an object or a list"))
		return
	}
	if l := r.top(); l == nil || l.env != nil {
		r.out.problem(r.place.line(r, o.line), "not an object: nothing to read here")
	}
}

// problem reports a reason at a byte of the window.
func (r *jsonReader) problem(at int, reason string) {
	r.out.problem(r.place.line(r, r.w.line(at)), reason)
}

// path is the field path of the object that is being read, from the outermost value.
func (r *jsonReader) path() string {
	var b strings.Builder
	for _, l := range r.lists {
		if l.env != nil {
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString("items")
		}
		fmt.Fprintf(&b, "[%d]", l.index-1)
	}
	return b.String()
}
