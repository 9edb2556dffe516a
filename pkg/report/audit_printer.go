package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// AuditFormats lists the values of -o of `audit`, as shown in help and errors.
var AuditFormats = []string{"text", "json", "yaml", "name", "markdown", "csv", "html", "jsonpath=…", "go-template=…"}

// auditFormats are the formats that only an audit has.
var auditFormats = map[string]func(io.Writer, *Audit) error{
	"markdown": writeAuditMarkdown,
	"csv":      writeAuditCSV,
	"html":     writeAuditHTML,
}

// NewAuditPrinter returns the printer of a format of an audit. The error of an unknown format names the known ones.
func NewAuditPrinter(o Options) (Printer, error) {
	if write, ok := auditFormats[o.Format]; ok {
		return auditPrinter{write}, nil
	}
	if o.Format == "text" {
		o.Format = ""
	}
	kind, _, _ := strings.Cut(o.Format, "=")
	if _, ok := plain[o.Format]; !ok && !slices.Contains(templateKinds, kind) {
		return nil, fmt.Errorf("unknown output format %q; use one of %s", o.Format, strings.Join(AuditFormats, ", "))
	}
	return New(o)
}

// auditPrinter writes an audit in a format of its own.
type auditPrinter struct {
	write func(io.Writer, *Audit) error
}

// Print implements [Printer].
func (p auditPrinter) Print(w io.Writer, d Document) error {
	a, ok := d.(*Audit)
	if !ok {
		return fmt.Errorf("this format is for audits only")
	}
	return p.write(w, a)
}
