package rulepack

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is one YAML document of a pack's file, with the places of its fields.
type document struct {
	file  string
	lines []string
	root  *yaml.Node
	pack  Pack
}

// read decodes the documents of a file.
func read(file string, data []byte) ([]*document, Errors) {
	lines := strings.Split(string(data), "\n")
	nodes, strict := yaml.NewDecoder(bytes.NewReader(data)), yaml.NewDecoder(bytes.NewReader(data))
	strict.KnownFields(true)
	var out []*document
	var problems Errors
	for {
		d := &document{file: file, lines: lines, root: &yaml.Node{}}
		if err := nodes.Decode(d.root); err != nil {
			if !errors.Is(err, io.EOF) {
				problems = append(problems, d.yamlErrors(err)...)
			}
			return out, problems
		}
		if err := strict.Decode(&d.pack); err != nil {
			problems = append(problems, d.yamlErrors(err)...)
			continue
		}
		if len(d.root.Content) > 0 && d.root.Content[0].Tag != "!!null" {
			out = append(out, d)
		}
	}
}

var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownField = regexp.MustCompile(`^field (\S+) not found in type rulepack\.(\S+)$`)
)

// yamlErrors finds the lines in what the YAML library says.
func (d *document) yamlErrors(err error) Errors {
	messages := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		messages = several.Errors
	}
	var out Errors
	for _, text := range messages {
		e := &Error{File: d.file, Message: strings.TrimPrefix(text, "yaml: ")}
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			e.Line, _ = strconv.Atoi(m[1])
			e.Message = m[2]
		}
		if m := unknownField.FindStringSubmatch(e.Message); m != nil {
			e.Message = "unknown field " + strconv.Quote(m[1])
			e.Text = d.line(e.Line)
			e.Column = strings.Index(e.Text, m[1]) + 1
		}
		out = append(out, e)
	}
	return out
}

func (d *document) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return strings.TrimSuffix(d.lines[n-1], "\r")
}

// node is the value at a path of keys and indexes; where it does not exist, the deepest part that does.
func (d *document) node(path ...any) *yaml.Node {
	n := d.root
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, step := range path {
		child := childOf(n, step)
		if child == nil {
			return n
		}
		n = child
	}
	return n
}

func childOf(n *yaml.Node, step any) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	switch step := step.(type) {
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	}
	return nil
}

// at is an error about the value at a path.
func (d *document) at(rule, message string, path ...any) *Error {
	n := d.node(path...)
	return &Error{File: d.file, Line: n.Line, Column: d.byteColumn(n.Line, n.Column), Rule: rule, Message: message,
		Text: d.line(n.Line)}
}

// byteColumn turns a column in characters into one in bytes.
func (d *document) byteColumn(line, column int) int {
	text := []rune(d.line(line))
	return len(string(text[:min(max(column-1, 0), len(text))])) + 1
}

// inside is an error at a line and column (from 1 and 0, in characters) of the text that stands at a path.
func (d *document) inside(rule, message string, line, column int, path ...any) *Error {
	e, n := d.at(rule, message, path...), d.node(path...)
	if n.Kind != yaml.ScalarNode || line < 1 {
		return e
	}
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		e.Line += line
		e.Text = d.line(e.Line)
		e.Column = len(e.Text) - len(strings.TrimLeft(e.Text, " ")) + 1 - leading(n.Value, line) +
			bytesBefore(n.Value, line, column)
	case n.Style&yaml.FoldedStyle != 0 || line > 1 || strings.Contains(n.Value, "\n"):
		// The lines of folded text are not those of the file.
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		before := bytesBefore(n.Value, line, column)
		quote := map[bool]string{true: "'", false: `"`}[n.Style&yaml.SingleQuotedStyle != 0]
		e.Column += 1 + before + strings.Count(n.Value[:before], quote) // a quote inside is written with two characters
	default:
		e.Column += bytesBefore(n.Value, line, column)
	}
	e.Column = min(max(e.Column, 1), len(e.Text)+1)
	return e
}

// leading counts the blanks that begin a line of a text.
func leading(text string, line int) int {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return 0
	}
	return len(lines[line-1]) - len(strings.TrimLeft(lines[line-1], " "))
}

// bytesBefore counts the bytes before a column of a line of a text.
func bytesBefore(text string, line, column int) int {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return 0
	}
	characters := []rune(lines[line-1])
	return len(string(characters[:min(max(column, 0), len(characters))]))
}
