package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// FindingFormats lists the values of -o of `lint`, as shown in help and errors.
var FindingFormats = []string{"text", "json", "yaml", "name", "sarif", "junit", "github", "gitlab", "markdown", "jsonpath=…", "go-template=…"}

// findingFormats are the formats that only findings have.
var findingFormats = map[string]func(io.Writer, *Findings) error{
	"sarif":    writeSARIF,
	"junit":    writeJUnit,
	"github":   writeGitHub,
	"gitlab":   writeGitLab,
	"markdown": writeMarkdown,
}

// NewFindingPrinter returns the printer of a format of findings. The error of an unknown format names the known ones.
func NewFindingPrinter(o Options) (Printer, error) {
	if write, ok := findingFormats[o.Format]; ok {
		return findingPrinter{write}, nil
	}
	if o.Format == "text" {
		o.Format = ""
	}
	kind, _, _ := strings.Cut(o.Format, "=")
	if _, ok := plain[o.Format]; !ok && !slices.Contains(templateKinds, kind) {
		return nil, fmt.Errorf("unknown output format %q; use one of %s", o.Format, strings.Join(FindingFormats, ", "))
	}
	return New(o)
}

// findingPrinter writes findings in a format of their own.
type findingPrinter struct {
	write func(io.Writer, *Findings) error
}

// Print implements [Printer].
func (p findingPrinter) Print(w io.Writer, d Document) error {
	findings, ok := d.(*Findings)
	if !ok {
		return fmt.Errorf("this format is for findings only")
	}
	return p.write(w, findings)
}
