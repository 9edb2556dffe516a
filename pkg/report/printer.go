package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Printer writes a result in one format.
type Printer interface {
	Print(io.Writer, Document) error
}

// Options are what the formats need besides the result.
type Options struct {
	// Format is the value of -o: empty for the table, wide, json, yaml, name, jsonpath=…,
	// jsonpath-file=…, go-template=… or go-template-file=….
	Format string
	// Terminal describes what the table is drawn on.
	Terminal Terminal
}

// Formats lists the values of -o, as shown in help and errors.
var Formats = []string{"wide", "json", "yaml", "name", "jsonpath=…", "jsonpath-file=…", "go-template=…", "go-template-file=…"}

// plain are the formats without an argument.
var plain = map[string]func(Options) Printer{
	"":     func(o Options) Printer { return tablePrinter{o.Terminal} },
	"wide": func(o Options) Printer { o.Terminal.Wide = true; return tablePrinter{o.Terminal} },
	"json": func(Options) Printer { return jsonPrinter{} },
	"yaml": func(Options) Printer { return yamlPrinter{} },
	"name": func(Options) Printer { return namePrinter{} },
}

// New returns the printer of a format. The error of an unknown format names the known ones.
func New(o Options) (Printer, error) {
	if p, ok := plain[o.Format]; ok {
		return p(o), nil
	}
	kind, _, _ := strings.Cut(o.Format, "=")
	if slices.Contains(templateKinds, kind) {
		return newTemplatePrinter(kind, o.Format)
	}
	return nil, fmt.Errorf("unknown output format %q; use one of %s", o.Format, strings.Join(Formats, ", "))
}
