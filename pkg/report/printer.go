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
var Formats = []string{"wide", "json", "yaml", "name", "jsonpath=…", "jsonpath-file=…", "go-template=…",
	"go-template-file=…"}

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

// newOwn returns the printer of a format of a result that has formats of its own beside the common ones; text is the
// table. The error of an unknown format names the known ones.
func newOwn[D Document](o Options, own map[string]func(io.Writer, D) error, known []string) (Printer, error) {
	if write, ok := own[o.Format]; ok {
		return ownPrinter[D]{o.Format, write}, nil
	}
	if o.Format == "text" {
		o.Format = ""
	}
	kind, _, _ := strings.Cut(o.Format, "=")
	if _, ok := plain[o.Format]; !ok && !slices.Contains(templateKinds, kind) {
		return nil, fmt.Errorf("unknown output format %q; use one of %s", o.Format, strings.Join(known, ", "))
	}
	return New(o)
}

// ownPrinter writes a result in a format that only this kind of result has.
type ownPrinter[D Document] struct {
	format string
	write  func(io.Writer, D) error
}

// Print implements [Printer].
func (p ownPrinter[D]) Print(w io.Writer, d Document) error {
	own, ok := d.(D)
	if !ok {
		return fmt.Errorf("the format %s is not for a %T", p.format, d)
	}
	return p.write(w, own)
}
