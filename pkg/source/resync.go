package source

import (
	"errors"
	"fmt"
)

// recover reports an object that is broken at pos, and moves pos to the next object.
//
// An object that begins its line ends, at the latest, where the next line with the same indentation
// begins an object: so do NDJSON and everything that prints JSON with line breaks. Otherwise brackets are counted.
func (r *jsonReader) recover(o *object, err error) {
	w := r.w
	bad := w.line(w.pos)
	if errors.Is(err, errEnd) {
		reason := fmt.Sprintf("the input ends in the middle of the object that begins at line %d",
			r.place.line(r, o.line))
		if w.err != nil {
			reason, w.err = "cannot read on: "+w.err.Error(), nil
		}
		r.out.problem(r.place.line(r, bad), reason)
		r.out.brokeOff(r.out.file + ": " + reason)
		w.pos = len(w.buf)
		r.dropLists()
		return
	}
	ok := r.resync(o)
	c, _ := w.next()
	if l := r.top(); l != nil {
		// What was found is an element, the end of the list, or stands behind an element.
		l.comma = c != '{'
	}
	if !ok {
		r.out.problem(r.place.line(r, bad), err.Error()+"; nothing after this line of the file is read")
		w.pos, w.src = len(w.buf), nil
		r.dropLists()
		return
	}
	first, last := r.place.line(r, o.line), r.place.line(r, w.line(w.pos))
	if w.indent(w.pos) >= 0 {
		last--
	}
	lost := fmt.Sprintf("the object at line %d is not read", first)
	if last > first {
		lost = fmt.Sprintf("lines %d to %d are not read", first, last)
	}
	r.out.problem(r.place.line(r, bad), err.Error()+"; "+lost)
}

// dropLists gives up the open lists without another word.
func (r *jsonReader) dropLists() {
	for len(r.lists) > 0 {
		if l := r.top(); l.env != nil {
			l.broken = true
			r.finish(l)
		}
		r.pop()
	}
}

// resync moves pos to the next object, or behind the broken one.
func (r *jsonReader) resync(o *object) bool {
	w, b := r.w, brackets{depth: -1}
	if w.keep >= 0 && !w.lost {
		b.depth = 0
		for _, c := range w.buf[w.keep:w.pos] {
			b.feed(c)
		}
	}
	w.keep = -1
	w.countTo(max(w.counted, w.pos))
	// column counts the white space since the start of the line; -1: something else stands before.
	column := w.indent(w.pos)
	inList := r.top() != nil
	for first := true; ; first = false {
		if w.pos == len(w.buf) && !w.fill() {
			return b.depth == 0 && !first
		}
		if b.depth < 0 && o.indent < 0 {
			return false
		}
		c := w.buf[w.pos]
		switch {
		case c == '\n':
			column = 0
		case column >= 0 && isSpace(c):
			column++
		case column >= 0:
			if column == o.indent && c == '{' && w.offset() > o.start || inList && c == ']' && column <= o.indent {
				return true
			}
			column = -1
		}
		if b.depth == 0 && !isSpace(c) {
			if inList && (c == ',' || c == ']') || !inList && c == '{' {
				return true
			}
			b.depth = -1
		}
		w.pos++
		b.feed(c)
	}
}

// brackets follows the nesting of text that need not be JSON. depth is -1 when it is not known.
type brackets struct {
	depth           int
	quoted, escaped bool
}

func (b *brackets) feed(c byte) {
	switch {
	case b.depth < 0:
	case c == '\n':
		// No string goes beyond its line.
		b.quoted, b.escaped = false, false
	case b.escaped:
		b.escaped = false
	case b.quoted:
		b.escaped = c == '\\'
		b.quoted = c != '"'
	case c == '"':
		b.quoted = true
	case c == '{' || c == '[':
		b.depth++
	case c == '}' || c == ']':
		b.depth--
	}
}
