package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

const indent = "    "

// jsonPrinter writes indented JSON, one item at a time.
type jsonPrinter struct{}

// Print implements [Printer].
func (jsonPrinter) Print(w io.Writer, d Document) error {
	head, err := json.MarshalIndent(d.Head(), "", indent)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	// The items are the last field: the head is written up to its closing brace.
	out.Write(bytes.TrimSuffix(head, []byte("\n}")))
	out.WriteString(",\n" + indent + `"` + listName(d) + `": [`)
	var compact, pretty bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	separator := "\n"
	for item := range d.Items() {
		compact.Reset()
		pretty.Reset()
		if err := encoder.Encode(item); err != nil {
			return err
		}
		if err := json.Indent(&pretty, bytes.TrimSpace(compact.Bytes()), indent+indent, indent); err != nil {
			return err
		}
		out.WriteString(separator + indent + indent)
		out.Write(pretty.Bytes())
		separator = ",\n"
	}
	if separator != "\n" {
		out.WriteString("\n" + indent)
	}
	out.WriteString("]\n}\n")
	return out.Flush()
}
