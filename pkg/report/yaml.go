package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// yamlPrinter writes YAML with sorted keys, as kubectl does, one item at a time. The text is made here:
// the YAML libraries take half a millisecond for an item, five seconds for ten thousand.
type yamlPrinter struct{}

// Print implements [Printer].
func (yamlPrinter) Print(w io.Writer, d Document) error {
	y := yamlWriter{out: bufio.NewWriterSize(w, 1<<16)}
	head, err := generic(d.Head())
	if err != nil {
		return err
	}
	// Sorted keys: apiVersion, then items, then the rest of the head.
	rest := head.(map[string]any)
	y.text("apiVersion: " + APIVersion + "\nitems:")
	delete(rest, "apiVersion")
	empty := true
	for item := range d.Items() {
		value, err := generic(item)
		if err != nil {
			return err
		}
		y.text("\n- ")
		y.value(value, 1)
		empty = false
	}
	if empty {
		y.text(" []")
	}
	y.text("\n")
	y.value(rest, 0)
	y.text("\n")
	return y.out.Flush()
}

// generic is a value as JSON sees it.
func generic(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var out any
	return out, decoder.Decode(&out)
}

// yamlWriter writes JSON values in YAML's block style.
type yamlWriter struct{ out *bufio.Writer }

func (y yamlWriter) text(s string) { y.out.WriteString(s) }

// value writes v at the current place; the lines after the first are indented by depth.
func (y yamlWriter) value(v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		y.mapping(v, depth)
	case []any:
		y.sequence(v, depth)
	case string:
		y.text(scalar(v))
	case nil:
		y.text("null")
	default:
		fmt.Fprint(y.out, v)
	}
}

func (y yamlWriter) mapping(m map[string]any, depth int) {
	if len(m) == 0 {
		y.text("{}")
		return
	}
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			y.newline(depth)
		}
		y.text(scalar(key) + ":")
		switch v := m[key].(type) {
		case map[string]any:
			if len(v) > 0 {
				y.newline(depth + 1)
				y.mapping(v, depth+1)
				continue
			}
		case []any:
			if len(v) > 0 {
				y.newline(depth)
				y.sequence(v, depth)
				continue
			}
		}
		y.text(" ")
		y.value(m[key], depth)
	}
}

func (y yamlWriter) sequence(list []any, depth int) {
	if len(list) == 0 {
		y.text("[]")
		return
	}
	for i, v := range list {
		if i > 0 {
			y.newline(depth)
		}
		y.text("- ")
		y.value(v, depth+1)
	}
}

func (y yamlWriter) newline(depth int) { y.text("\n" + spaces(2*depth)) }

// scalar is a string as YAML: plain where every YAML reader takes it for a string, else in double quotes.
func scalar(s string) string {
	if isPlainScalar(s) {
		return s
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return `""`
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	if !strings.ContainsFunc(quoted, unprintable) {
		return quoted
	}
	// JSON lets pass some characters that YAML wants escaped.
	var out strings.Builder
	for _, r := range quoted {
		if unprintable(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func unprintable(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// notStrings are the words that some YAML reader takes for something else.
var notStrings = map[string]bool{
	"true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true, "null": true,
}

func isPlainScalar(s string) bool {
	if s == "" || notStrings[strings.ToLower(s)] {
		return false
	}
	if digits := strings.TrimLeft(s, "0123456789"); digits != s {
		return quantitySuffixes[digits]
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if letter || i > 0 && (c >= '0' && c <= '9' || c == '.' || c == '/' || c == '-' || c == '_') {
			continue
		}
		// A space is harmless between other characters.
		if c == ' ' && i > 0 && i < len(s)-1 {
			continue
		}
		return false
	}
	return true
}

// quantitySuffixes make a number a quantity, which is a string.
var quantitySuffixes = map[string]bool{
	"m": true, "k": true, "M": true, "G": true, "T": true, "P": true,
	"Ki": true, "Mi": true, "Gi": true, "Ti": true, "Pi": true, "Ei": true,
}
