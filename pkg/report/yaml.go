package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// yamlPrinter writes YAML with sorted keys, as kubectl does, one item at a time.
type yamlPrinter struct{}

// Print implements [Printer].
func (yamlPrinter) Print(w io.Writer, d Document) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var head map[string]json.RawMessage
	text, err := json.Marshal(d.Head())
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	// Sorted keys: apiVersion, then the items, then the rest of the head.
	delete(head, "apiVersion")
	out.WriteString("apiVersion: " + APIVersion + "\n" + listName(d) + ":")
	empty := true
	for item := range d.Items() {
		text, err := yaml.Marshal(item)
		if err != nil {
			return err
		}
		if empty {
			out.WriteByte('\n')
		}
		writeItem(out, text)
		empty = false
	}
	if empty {
		out.WriteString(" []\n")
	}
	rest, err := yaml.Marshal(head)
	if err != nil {
		return err
	}
	out.Write(rest)
	return out.Flush()
}

// writeItem indents one item's text below the list.
func writeItem(out *bufio.Writer, text []byte) {
	mark := "- "
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			out.WriteString(mark)
			mark = "  "
		}
		out.Write(line)
	}
}
