package source

import (
	"bytes"
	"strings"
	"sync"

	yamlv3 "go.yaml.in/yaml/v3"
)

// stretch is the part of an input that holds an object.
type stretch struct {
	places     *placeCache
	from       backing
	start, end int64
	// line and column are those of its first byte.
	line, column int
}

// placeCache holds the text of the object whose fields were asked for last.
type placeCache struct {
	mu   sync.Mutex
	of   *stretch
	text []byte
	root *yamlv3.Node // of YAML text that can be parsed

	// known are places found before: the facts of many workloads rest on the same few objects.
	known map[placeKey]Position
}

type placeKey struct {
	of   *stretch
	path string
	part part
}

// maxPlaces bounds the places remembered.
const maxPlaces = 4096

// find returns the place of a path, which look finds when it is not known.
func (c *placeCache) find(s *stretch, path string, of part, look func() (Position, bool)) (Position, bool) {
	key := placeKey{s, path, of}
	c.mu.Lock()
	pos, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return pos, true
	}
	if pos, ok = look(); !ok {
		return pos, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxPlaces {
		c.known = map[placeKey]Position{}
	}
	c.known[key] = pos
	return pos, true
}

// with calls f with the stretch's text, which is read again when it is not the latest one.
func (c *placeCache) with(s *stretch, parse func(text []byte) *yamlv3.Node,
	f func(text []byte, root *yamlv3.Node)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != s {
		text, err := s.from.text(s.start, s.end)
		if err != nil {
			return false
		}
		c.of, c.text, c.root = s, text, nil
		if parse != nil {
			c.root = parse(text)
		}
	}
	f(c.text, c.root)
	return true
}

// between is the position of a part of the stretch's text.
func (s *stretch) between(text []byte, start, end int) Position {
	var p Position
	p.Line, p.Column = s.at(text, start)
	p.EndLine, p.EndColumn = s.at(text, end)
	return p
}

func (s *stretch) at(text []byte, offset int) (line, column int) {
	before := text[:offset]
	if last := bytes.LastIndexByte(before, '\n'); last >= 0 {
		return s.line + bytes.Count(before, newline), offset - last
	}
	return s.line, s.column + offset
}

// lineText returns a line of the text. The first line is filled up with blanks to its column.
func (s *stretch) lineText(text []byte, line int) (string, bool) {
	n := line - s.line
	if n < 0 || n == 0 && s.column > maxIndent+1 {
		return "", false
	}
	rest := text
	for range n {
		next := bytes.IndexByte(rest, '\n')
		if next < 0 {
			return "", false
		}
		rest = rest[next+1:]
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	out := string(bytes.TrimRight(rest, "\r"))
	if n == 0 {
		out = strings.Repeat(" ", s.column-1) + out
	}
	return out, true
}

// jsonPlace finds fields in the JSON text of an object.
type jsonPlace struct{ stretch }

func (p *jsonPlace) position(path string, of part) (Position, bool) {
	return p.places.find(&p.stretch, path, of, func() (pos Position, ok bool) {
		ok = p.places.with(&p.stretch, nil, func(text []byte, _ *yamlv3.Node) {
			start, end := jsonField(text, parsePath(path), of)
			pos = p.between(text, start, end)
		})
		return pos, ok
	})
}

func (p *jsonPlace) textOf(line int) (s string, ok bool) {
	p.places.with(&p.stretch, nil, func(text []byte, _ *yamlv3.Node) { s, ok = p.lineText(text, line) })
	return s, ok
}

// jsonField finds the value at a path, or the deepest value on the way to it; or the key of the last step, when all
// steps were found and that one has a key.
func jsonField(text []byte, steps []step, of part) (start, end int) {
	w := windowOn(text, 0, 1)
	w.next()
	start = w.pos
	key := span{}
	for i, s := range steps {
		k, at, ok := jsonStep(w, s)
		if !ok {
			break
		}
		if i == len(steps)-1 {
			key = k
		}
		start = at
		w.pos = at
	}
	if of == theKey && key.end > 0 {
		return key.start, key.end
	}
	w.pos = start
	if w.skipValue() != nil {
		return start, len(text)
	}
	return start, w.pos
}

// span is a part of a text; none ends at its start.
type span struct{ start, end int }

// jsonStep finds the value of a key or an index in the object or list at pos, and the key. Of two equal keys the last
// one counts, as in decoding. Broken JSON has no fields from there on.
func jsonStep(w *window, s step) (key span, at int, ok bool) {
	c, _ := w.next()
	if c != '{' && c != '[' || (c == '{') != (s.index < 0) {
		return key, 0, false
	}
	object := c == '{'
	w.pos++
	for n := 0; ; n++ {
		c, more := w.next()
		if more && c == ',' && n > 0 {
			w.pos++
			c, more = w.next()
		}
		if !more || c == '}' || c == ']' {
			return key, at, ok
		}
		match, here := s.index == n, span{start: w.pos}
		if object {
			if c != '"' {
				return key, at, ok
			}
			name, err := w.readString()
			match = string(name) == s.key
			here.end = w.pos
			if c, _ := w.next(); err != nil || c != ':' {
				return key, at, ok
			}
			w.pos++
			w.next()
		}
		if match {
			key, at, ok = here, w.pos, true
		}
		if match && !object || w.skipValue() != nil {
			return key, at, ok
		}
	}
}
