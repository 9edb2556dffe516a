package source

import (
	"bytes"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
)

// yamlText is YAML text that is parsed as a whole: a document, or an item of a list.
type yamlText struct {
	stretch
	// first is the line of its first content.
	first int
	// dash tells that the text is a list item, which begins with a dash.
	dash bool
}

// mapping returns the text as a document of its own: the dash of a list item becomes a blank, so that
// nothing changes its place.
func (t *yamlText) mapping(text []byte) []byte {
	if !t.dash {
		return text
	}
	text = bytes.Clone(text)
	if at := bytes.IndexByte(text, '-'); at >= 0 {
		text[at] = ' '
	}
	return text
}

func (t *yamlText) parse(text []byte) (root *yamlv3.Node) {
	defer func() {
		if recover() != nil {
			root = nil
		}
	}()
	var document yamlv3.Node
	if yamlv3.Unmarshal(t.mapping(text), &document) != nil || len(document.Content) == 0 {
		return nil
	}
	return document.Content[0]
}

// in makes the placer of the objects in the text.
func (t *yamlText) in(name string) placer { return yamlPlacer{t, name} }

type yamlPlacer struct {
	text *yamlText
	name string
}

func (p yamlPlacer) origin(r *jsonReader, f found, _ []byte) *Origin {
	path := f.path
	if !f.own {
		path = r.path()
	}
	return &Origin{File: p.name, Line: p.text.lineOf(path), locate: &yamlPlace{p.text, path}}
}

func (p yamlPlacer) line(r *jsonReader, _ int) int { return p.text.lineOf(r.path()) }

// lineOf is the line of an object of the text.
func (t *yamlText) lineOf(path string) int {
	if path == "" {
		return t.first
	}
	if pos, ok := (&yamlPlace{t, path}).position("", theValue); ok {
		return pos.Line
	}
	return t.first
}

// yamlPlace finds fields of an object that stands at a path of YAML text.
type yamlPlace struct {
	text *yamlText
	path string
}

func (p *yamlPlace) position(path string, of part) (Position, bool) {
	full := p.path
	switch {
	case full == "" || path == "" || path[0] == '[':
		full += path
	default:
		full += "." + path
	}
	return p.text.places.find(&p.text.stretch, full, of, func() (pos Position, ok bool) {
		read := p.text.places.with(&p.text.stretch, p.text.parse, func(text []byte, root *yamlv3.Node) {
			if root == nil {
				return
			}
			start, end := yamlField(text, root, parsePath(full), of)
			pos, ok = p.text.between(text, start, end), true
		})
		return pos, ok && read
	})
}

func (p *yamlPlace) textOf(line int) (s string, ok bool) {
	p.text.places.with(&p.text.stretch, p.text.parse,
		func(text []byte, _ *yamlv3.Node) { s, ok = p.text.lineText(text, line) })
	return s, ok
}

// yamlField finds the value at a path, or the deepest value on the way to it; or the key of the last step, when all
// steps were found and that one has a key.
func yamlField(text []byte, n *yamlv3.Node, steps []step, of part) (start, end int) {
	var key *yamlv3.Node
	for _, s := range steps {
		merges := maxMerges
		k, v := yamlStep(n, s, &merges)
		if v == nil {
			of = theValue
			break
		}
		key, n = k, v
	}
	if of == theKey && key != nil {
		n = key
	}
	src := &yamlSource{text: text}
	lines(text, func(_ []byte, start, _ int) bool {
		src.starts = append(src.starts, start)
		return true
	})
	if n.Kind == yamlv3.ScalarNode && n.Value == "" && n.Style == 0 && key != nil {
		n = key // `key:` without a value
	}
	return src.offset(n), src.end(n)
}

// maxMerges bounds how many merge keys are followed to find one field.
const maxMerges = 100

// yamlStep finds a key or an index. Of two equal keys the last one counts, as in decoding; merged keys come last.
func yamlStep(n *yamlv3.Node, s step, merges *int) (key, value *yamlv3.Node) {
	for n.Kind == yamlv3.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yamlv3.SequenceNode && s.index >= 0 && s.index < len(n.Content):
		return nil, n.Content[s.index]
	case n.Kind != yamlv3.MappingNode || s.index >= 0:
		return nil, nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if k := n.Content[i]; k.Value == s.key && k.Kind == yamlv3.ScalarNode {
			return k, n.Content[i+1]
		}
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		from := []*yamlv3.Node{n.Content[i+1]}
		if from[0].Kind == yamlv3.SequenceNode {
			from = from[0].Content
		}
		for _, m := range from {
			if *merges--; *merges < 0 {
				return nil, nil
			}
			if key, value = yamlStep(m, s, merges); value != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

// yamlSource tells where parsed values stand in their text.
type yamlSource struct {
	text   []byte
	starts []int // of the lines
}

// offset is the byte at which a value begins. The parser counts columns in characters.
func (s *yamlSource) offset(n *yamlv3.Node) int {
	if n.Line < 1 || n.Line > len(s.starts) {
		return len(s.text)
	}
	at := s.starts[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// end is the byte behind a value.
func (s *yamlSource) end(n *yamlv3.Node) int {
	at := s.afterProperties(n)
	switch n.Kind {
	case yamlv3.AliasNode:
		return min(at+1+len(n.Value), len(s.text))
	case yamlv3.ScalarNode:
		return s.scalarEnd(n, at)
	}
	if len(n.Content) > 0 {
		at = max(at, s.end(n.Content[len(n.Content)-1]))
	} else if at < len(s.text) {
		at++
	}
	if n.Style&yamlv3.FlowStyle == 0 {
		return at
	}
	for at < len(s.text) && s.text[at] != ']' && s.text[at] != '}' {
		if s.text[at] == '#' {
			at += max(bytes.IndexByte(s.text[at:], '\n'), 0)
		}
		at++
	}
	return min(at+1, len(s.text))
}

// afterProperties skips the anchor and tag in front of a value.
func (s *yamlSource) afterProperties(n *yamlv3.Node) int {
	at := s.offset(n)
	for at < len(s.text) && (s.text[at] == '&' || s.text[at] == '!') {
		for at < len(s.text) && !isSpace(s.text[at]) {
			at++
		}
		for at < len(s.text) && isSpace(s.text[at]) {
			at++
		}
	}
	return at
}

func (s *yamlSource) scalarEnd(n *yamlv3.Node, at int) int {
	rest := s.text[at:]
	switch {
	case n.Style&yamlv3.DoubleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return at + i + 1
			}
		}
		return len(s.text)
	case n.Style&yamlv3.SingleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\'' {
				if i+1 == len(rest) || rest[i+1] != '\'' {
					return at + i + 1
				}
				i++
			}
		}
		return len(s.text)
	case n.Style&(yamlv3.LiteralStyle|yamlv3.FoldedStyle) != 0:
		return at + blockEnd(rest)
	}
	return at + plainEnd(rest, n.Value)
}

// blockEnd is the length of a block scalar: its header and the lines indented like the first one.
func blockEnd(text []byte) int {
	end, indent := 0, -1
	lines(text, func(line []byte, start, _ int) bool {
		body := bytes.TrimLeft(line, " ")
		column := len(line) - len(body)
		switch {
		case start == 0:
		case len(body) == 0:
			return true
		case indent < 0:
			indent = column
		case column < indent:
			return false
		}
		end = start + len(line)
		return true
	})
	return end
}

// plainEnd is the length of the text of a plain scalar, whose line breaks are folded in its value.
func plainEnd(text []byte, value string) int {
	end := 0
	for _, word := range strings.Fields(value) {
		at := bytes.Index(text[end:], []byte(word))
		if at < 0 || len(bytes.TrimSpace(text[end:end+at])) > 0 {
			break
		}
		end += at + len(word)
	}
	return end
}
