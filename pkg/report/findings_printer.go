package report

import "io"

// FindingFormats lists the values of -o of `lint`, as shown in help and errors.
var FindingFormats = []string{"text", "json", "yaml", "name", "sarif", "junit", "github", "gitlab", "markdown",
	"jsonpath=…", "go-template=…"}

// findingFormats are the formats that only findings have.
var findingFormats = map[string]func(io.Writer, *Findings) error{
	"sarif":    writeSARIF,
	"junit":    writeJUnit,
	"github":   writeGitHub,
	"gitlab":   writeGitLab,
	"markdown": writeMarkdown,
}

// NewFindingPrinter returns the printer of a format of findings. The error of an unknown format names the known ones.
func NewFindingPrinter(o Options) (Printer, error) { return newOwn(o, findingFormats, FindingFormats) }
