package report

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"honnef.co/go/tools/sarif"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// RuleURL is where the documentation of a rule is published; empty for a rule of a pack.
func RuleURL(r *lint.Rule) string {
	if r.Pack != "" {
		return ""
	}
	return "https://github.com/gpu-quota/kubectl-gpu-quota/blob/main/docs/rules/" + r.ID + ".md"
}

var sarifLevels = map[lint.Severity]string{lint.Error: sarif.Error, lint.Warning: sarif.Warning, lint.Info: sarif.Note}

// writeSARIF writes SARIF 2.1.0, with every rule and its help.
func writeSARIF(w io.Writer, d *Findings) error {
	driver := sarif.ToolComponent{
		Name: "kubectl-gpu_quota", Version: d.tool, InformationURI: "https://github.com/gpu-quota/kubectl-gpu-quota",
	}
	for _, r := range d.rules {
		driver.Rules = append(driver.Rules, sarif.ReportingDescriptor{
			ID: r.ID, ShortDescription: sarif.Message{Text: r.Doc.Title}, HelpURI: RuleURL(r),
			Help:                 sarif.Message{Text: cmp.Or(r.Doc.Why, r.Doc.Title), Markdown: RuleMarkdown(r)},
			DefaultConfiguration: sarif.ReportingConfiguration{Enabled: true, Level: sarifLevels[r.Severity]},
		})
	}
	run := sarif.Run{Tool: sarif.Tool{Driver: driver}, Results: []sarif.Result{},
		Invocations: []sarif.Invocation{{ExecutionSuccessful: true}}}
	for _, f := range d.result.Findings {
		run.Results = append(run.Results, sarifResult(f))
	}
	for _, f := range d.result.Suppressed {
		r := sarifResult(f.Finding)
		kind := "external"
		if f.InSource {
			kind = "inSource"
		}
		r.Suppressions = append(r.Suppressions, sarif.Suppression{Kind: kind, Justification: f.Justification})
		run.Results = append(run.Results, r)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarif.Log{Version: sarif.Version, Schema: sarif.Schema, Runs: []sarif.Run{run}})
}

func sarifResult(f lint.Finding) sarif.Result {
	text := findingText(f)
	r := sarif.Result{RuleID: f.Rule.ID, Kind: sarif.Fail, Level: sarifLevels[f.Severity],
		Suppressions: []sarif.Suppression{}}
	if f.At.File == "" {
		text = f.At.String() + ": " + text
	} else {
		r.Locations = []sarif.Location{sarifLocation(f.At)}
	}
	r.Message.Text = text
	for i, l := range f.Related {
		if l.File == "" {
			continue
		}
		at := sarifLocation(l)
		at.ID = i + 1
		at.Message = &sarif.Message{Text: strings.TrimSpace(l.Object.String() + " " + l.Path + " " + l.Label)}
		r.RelatedLocations = append(r.RelatedLocations, at)
	}
	if f.Fix != nil && len(f.Fix.Edits) > 0 {
		r.Fixes = []sarif.Fix{sarifFix(f)}
	}
	return r
}

// findingText is the message and the help, for formats without a place of its own for the help.
func findingText(f lint.Finding) string {
	if f.Help == "" {
		return f.Message
	}
	return f.Message + ". " + strings.ToUpper(f.Help[:1]) + f.Help[1:] + "."
}

func sarifLocation(l lint.Location) sarif.Location {
	return sarif.Location{PhysicalLocation: sarif.PhysicalLocation{
		ArtifactLocation: sarif.ArtifactLocation{URI: uri(l.File)}, Region: sarifRegion(l.Position, l.Text),
	}}
}

func sarifFix(f lint.Finding) sarif.Fix {
	fix := sarif.Fix{Description: sarif.Message{Text: f.Fix.Description}}
	for _, e := range f.Fix.Edits {
		fix.ArtifactChanges = append(fix.ArtifactChanges, sarif.ArtifactChange{
			ArtifactLocation: sarif.ArtifactLocation{URI: uri(e.File)},
			Replacements: []sarif.Replacement{{DeletedRegion: sarifRegion(e.Position, f.At.Text),
				InsertedContent: sarif.ArtifactContent{Text: e.NewText}}},
		})
	}
	return fix
}

// uri writes a file name as a reference: relative to the directory in which the program ran, as code scanning wants it.
func uri(file string) string { return (&url.URL{Path: filepath.ToSlash(file)}).String() }

// sarifRegion counts columns in UTF-16 code units, as SARIF does unless told otherwise.
func sarifRegion(p source.Position, text func(int) (string, bool)) sarif.Region {
	r := sarif.Region{StartLine: max(p.Line, 1), StartColumn: max(utf16Column(p.Line, p.Column, text), 1)}
	if p.EndLine >= p.Line && p.EndColumn > 0 {
		r.EndLine, r.EndColumn = p.EndLine, utf16Column(p.EndLine, p.EndColumn, text)
	}
	return r
}

// utf16Column turns a column in bytes into one in UTF-16 code units.
func utf16Column(line, column int, text func(int) (string, bool)) int {
	content, ok := text(line)
	if !ok || column < 1 || column-1 > len(content) {
		return column
	}
	return len(utf16.Encode([]rune(content[:column-1]))) + 1
}
