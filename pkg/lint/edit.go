package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Written is the text of the location, over all of its lines. ok is false where it is not in a file.
func (l Location) Written() (text string, ok bool) {
	lines, ok := l.lines()
	if !ok || l.Column < 1 || l.EndColumn < 1 || l.EndColumn-1 > len(lines[len(lines)-1]) ||
		l.Column-1 > len(lines[0]) {
		return "", false
	}
	last := len(lines) - 1
	lines[last] = lines[last][:l.EndColumn-1]
	if last == 0 && l.EndColumn < l.Column {
		return "", false
	}
	lines[0] = lines[0][l.Column-1:]
	return strings.Join(lines, "\n"), true
}

// lines are the whole lines the location stands on.
func (l Location) lines() ([]string, bool) {
	var out []string
	for n := l.Line; n <= l.EndLine; n++ {
		line, ok := l.Text(n)
		if !ok {
			return nil, false
		}
		out = append(out, line)
	}
	return out, len(out) > 0
}

// Replace is a fix that writes a new value at a place, in the style of the old one. It is nil where the place is not in
// a file, or the value is not written on one line.
func (p *Pass) Replace(at Place, value, description string) *Fix {
	l := at.Location()
	old, ok := l.Written()
	if !ok || old == "" || strings.Contains(old, "\n") || strings.ContainsAny(old[:1], "|>&*!{[") {
		return nil
	}
	return replaced(l, quotedLike(old, value), description)
}

// ReplacePart is a fix that replaces every occurrence of a text in the value at a place.
func (p *Pass) ReplacePart(at Place, old, now, description string) *Fix {
	l := at.Location()
	written, ok := l.Written()
	if !ok || !strings.Contains(written, old) || strings.HasPrefix(written, "*") {
		return nil
	}
	return replaced(l, strings.ReplaceAll(written, old, now), description)
}

// Rewrite is a fix that turns the text at a place into another one, line breaks and indentation kept. Where the text is
// the block of a literal or folded scalar, rewrite gets it without its indentation. rewrite reports false when there is
// nothing to do.
func (p *Pass) Rewrite(at Place, value string, rewrite func(string) (string, bool), description string) *Fix {
	l := at.Location()
	written, ok := l.Written()
	if !ok || written == "" {
		return nil
	}
	if written[0] != '|' && written[0] != '>' {
		if now, ok := rewrite(value); ok {
			return p.Replace(at, now, description)
		}
		return nil
	}
	lines := strings.Split(written, "\n")
	indent := indentOf(lines[1:])
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimPrefix(line, indent)
	}
	now, ok := rewrite(strings.Join(lines[1:], "\n"))
	if !ok {
		return nil
	}
	return replaced(l, lines[0]+"\n"+Indent(now, indent), description)
}

func replaced(l Location, text, description string) *Fix {
	return &Fix{Description: description, Safe: true,
		Edits: []Edit{{File: l.File, Position: l.Position, NewText: text}}}
}

// indentOf is the indentation of the first line that has content.
func indentOf(lines []string) string {
	for _, line := range lines {
		if rest := strings.TrimLeft(line, " "); rest != "" {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// Indent puts an indentation in front of every line that is not empty.
func Indent(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}

// quotedLike writes a value in the style of the old text. What is plain stays plain where it can.
func quotedLike(old, value string) string {
	single := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	switch {
	case strings.HasPrefix(old, `"`):
		var out strings.Builder
		encoder := json.NewEncoder(&out) // its strings are YAML, too
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(value) // a string can always be encoded
		return strings.TrimSuffix(out.String(), "\n")
	case strings.HasPrefix(old, "'"):
		return single
	case value == "" || strings.ContainsAny(value[:1], "-?:,[]{}#&*!|>'\"%@` \t") || strings.HasSuffix(value, ":") ||
		strings.HasSuffix(value, " "),
		strings.Contains(value, ": "), strings.Contains(value, " #"), strings.Contains(value, "\n"):
		return single
	case strings.ContainsAny(value, ",[]{}") && !strings.ContainsAny(old, ",[]{}"):
		return single // it may stand in a flow collection
	}
	return value
}

// Insert is an edit that puts a text at a place of a file.
func Insert(file string, line, column int, text string) Edit {
	return Edit{File: file, Position: source.Position{Line: line, Column: column, EndLine: line, EndColumn: column},
		NewText: text}
}

// ReplaceLines is an edit that writes other lines for those a location stands on.
func ReplaceLines(l Location, text string) (Edit, bool) {
	lines, ok := l.lines()
	if !ok {
		return Edit{}, false
	}
	at := source.Position{Line: l.Line, Column: 1, EndLine: l.EndLine, EndColumn: len(lines[len(lines)-1]) + 1}
	return Edit{File: l.File, Position: at, NewText: text}, true
}

// ApplyFixes applies the safe fixes of findings to texts, by file. Of fixes that would change the same place the first
// one is applied: lint again for the others. It returns the texts that changed and how many fixes were applied.
func ApplyFixes(findings []Finding, text func(file string) ([]byte, bool)) (changed map[string][]byte, applied int) {
	taken := map[string][]spanEdit{}
	for _, f := range findings {
		if f.Fix == nil || !f.Fix.Safe || len(f.Fix.Edits) == 0 {
			continue
		}
		if all, ok := placed(f.Fix.Edits, taken, text); ok {
			applied++
			for file, edits := range all {
				taken[file] = append(taken[file], edits...)
			}
		}
	}
	changed = map[string][]byte{}
	for file, edits := range taken {
		before, _ := text(file)
		changed[file] = edited(before, edits)
	}
	return changed, applied
}

// spanEdit is an edit by the bytes it replaces.
type spanEdit struct {
	start, end int
	text       string
}

func (e spanEdit) overlaps(o spanEdit) bool {
	return e.start < o.end && o.start < e.end || e.start == o.start
}

// placed turns edits into spans. ok is false when one can't be made, or overlaps with one that is taken.
func placed(edits []Edit, taken map[string][]spanEdit, text func(string) ([]byte, bool)) (map[string][]spanEdit, bool) {
	out := map[string][]spanEdit{}
	for _, e := range edits {
		content, ok := text(e.File)
		if !ok {
			return nil, false
		}
		s := spanEdit{offsetOf(content, e.Line, e.Column), offsetOf(content, e.EndLine, e.EndColumn), e.NewText}
		if s.start < 0 || s.end < s.start {
			return nil, false
		}
		for _, other := range slices.Concat(taken[e.File], out[e.File]) {
			if s.overlaps(other) {
				return nil, false
			}
		}
		out[e.File] = append(out[e.File], s)
	}
	return out, true
}

// offsetOf is the byte at a line and column; -1 when there is none.
func offsetOf(text []byte, line, column int) int {
	at := 0
	for range line - 1 {
		n := slices.Index(text[at:], '\n')
		if n < 0 {
			return -1
		}
		at += n + 1
	}
	if at += column - 1; line < 1 || column < 1 || at > len(text) {
		return -1
	}
	return at
}

// edited applies edits that do not overlap. New lines end as the lines of the text do.
func edited(text []byte, edits []spanEdit) []byte {
	slices.SortFunc(edits, func(a, b spanEdit) int { return a.start - b.start })
	crlf := strings.Contains(string(text), "\r\n")
	var out []byte
	at := 0
	for _, e := range edits {
		if crlf {
			e.text = strings.ReplaceAll(strings.ReplaceAll(e.text, "\r\n", "\n"), "\n", "\r\n")
		}
		out = append(append(out, text[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, text[at:]...)
}
