package source

import (
	"strings"
	"sync"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Embedded is the origin of a document that stands as text in a field of the object: a configuration
// file in a ConfigMap, say. Its fields are found inside that text.
func (o *Origin) Embedded(path, text string) *Origin {
	if o == nil {
		return nil
	}
	inner := *o
	inner.locate = &embeddedPlace{outer: o, path: path, text: text}
	return &inner
}

// TextOrigin is the origin of one YAML document of a file that was read apart: text begins on the given line.
func TextOrigin(file string, line int, text string) *Origin {
	return &Origin{File: file, Line: line, locate: &embeddedPlace{text: text, line: line}}
}

// embeddedPlace finds fields of YAML text inside a block scalar. Where the text stands otherwise, as one
// quoted line of JSON, every field is at the place of the whole.
type embeddedPlace struct {
	// outer is nil for text that stands by itself, from line on.
	outer *Origin
	path  string
	text  string
	line  int

	once sync.Once
	root *yamlv3.Node
}

func (p *embeddedPlace) position(path string, of part) (Position, bool) {
	whole, indent, block := p.whole()
	if whole.Line == 0 || path == "" {
		return whole, whole.Line > 0
	}
	p.once.Do(func() {
		var root yamlv3.Node
		if yamlv3.Unmarshal([]byte(p.text), &root) == nil && len(root.Content) == 1 {
			p.root = root.Content[0]
		}
	})
	if p.root == nil || !block {
		return whole, true
	}
	text := []byte(p.text)
	start, end := yamlField(text, p.root, parsePath(path), of)
	// The text begins on the line below the head of the block, or on its own first line.
	first := &stretch{line: whole.Line + 1, column: 1}
	if p.outer == nil {
		first.line = p.line
	}
	at := first.between(text, start, end)
	at.Column += indent
	at.EndColumn += indent
	return at, true
}

// whole is the place of the text: its lines follow the returned one, each indented, when it stands as a block.
func (p *embeddedPlace) whole() (at Position, indent int, block bool) {
	if p.outer == nil {
		return Position{Line: max(p.line-1, 1), Column: 1, EndLine: p.line, EndColumn: 1}, 0, p.line > 0
	}
	at, ok := p.outer.Field(p.path)
	if !ok {
		return Position{}, 0, false
	}
	indent, block = p.indent(at)
	return at, indent, block
}

// indent tells whether the text stands as a literal block, and how far it is indented.
func (p *embeddedPlace) indent(whole Position) (indent int, block bool) {
	head, ok := p.outer.Text(whole.Line)
	if !ok || !strings.Contains(head, "|") {
		return 0, false
	}
	for n, line := range strings.Split(p.text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		in, ok := p.outer.Text(whole.Line + 1 + n)
		return len(in) - len(line), ok && strings.HasSuffix(in, line)
	}
	return 0, false
}

func (p *embeddedPlace) textOf(line int) (string, bool) {
	if p.outer != nil {
		return p.outer.Text(line)
	}
	all := strings.Split(p.text, "\n")
	if n := line - p.line; n >= 0 && n < len(all) {
		return all[n], true
	}
	return "", false
}
