package report

import (
	"bufio"
	"io"
	"strings"
)

// namePrinter writes `kind.group/name` lines, which kubectl and this program take as arguments.
type namePrinter struct{}

// Print implements [Printer].
func (namePrinter) Print(w io.Writer, d Document) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for ref := range d.Names() {
		kind := strings.ToLower(ref.Kind)
		if group := ref.GroupKind().Group; group != "" {
			kind += "." + group
		}
		out.WriteString(kind + "/" + ref.Name + "\n")
	}
	return out.Flush()
}
