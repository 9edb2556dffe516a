package report

import "io"

// AuditFormats lists the values of -o of `audit`, as shown in help and errors.
var AuditFormats = []string{"text", "json", "yaml", "name", "markdown", "csv", "html", "jsonpath=…", "go-template=…"}

// auditFormats are the formats that only an audit has.
var auditFormats = map[string]func(io.Writer, *Audit) error{
	"markdown": writeAuditMarkdown,
	"csv":      writeAuditCSV,
	"html":     writeAuditHTML,
}

// NewAuditPrinter returns the printer of a format of an audit. The error of an unknown format names the known ones.
func NewAuditPrinter(o Options) (Printer, error) { return newOwn(o, auditFormats, AuditFormats) }
