package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Finding is one thing a rule found.
type Finding struct {
	Rule     *Rule
	Severity Severity
	// Message is lower-case, without full stop.
	Message string
	// Help says what to do.
	Help string
	// At is the field that is wrong.
	At Location
	// Cause is the field the finding follows from; the same as At where it stands by itself. Findings of one rule with
	// one cause are one fault, seen from several objects.
	Cause Location
	// Related are the other facts.
	Related []Location
	// Fix is nil when there is none.
	Fix *Fix
}

// Location is a field of an object, and where it stands.
type Location struct {
	Object cluster.Ref
	// Path of the field; empty for the whole object.
	Path string
	// Label says what is seen there, in a few words.
	Label string
	// Value of the field, where it says more than the label.
	Value string
	// File is empty for objects of a live cluster, and so is Position.
	File string
	source.Position

	origin *source.Origin
	// written is the location's line, where it is part of no object.
	written string
}

// Text returns a line of the file around the location.
func (l Location) Text(line int) (string, bool) {
	if l.written != "" && line == l.Line {
		return l.written, true
	}
	return l.origin.Text(line)
}

// IsZero tells that the location names nothing.
func (l Location) IsZero() bool { return l.File == "" && l.Object.IsZero() }

// String is `file:line:column`, as far as known, or the object and path.
func (l Location) String() string {
	switch {
	case l.File != "" && l.Line > 0 && l.Column == 0:
		return fmt.Sprintf("%s:%d", l.File, l.Line)
	case l.File != "" && l.Line > 0:
		return fmt.Sprintf("%s:%d:%d", l.File, l.Line, l.Column)
	case l.File != "":
		return l.File
	case l.Path != "":
		return l.Object.String() + " " + l.Path
	}
	return l.Object.String()
}

// Compare orders locations by file, place, object and path.
func (l Location) Compare(m Location) int {
	return cmp.Or(cmp.Compare(l.File, m.File), cmp.Compare(l.Line, m.Line), cmp.Compare(l.Column, m.Column),
		cmp.Compare(l.EndLine, m.EndLine), cmp.Compare(l.EndColumn, m.EndColumn),
		l.Object.Compare(m.Object), cmp.Compare(l.Path, m.Path))
}

// Compare orders findings by place, rule and text: the order of every list printed.
func (f Finding) Compare(g Finding) int {
	return cmp.Or(f.At.Compare(g.At), cmp.Compare(f.Rule.ID, g.Rule.ID), cmp.Compare(f.Message, g.Message))
}

// Fix is a change that removes a finding.
type Fix struct {
	// Description says what it does, as an order: "write the request under exactly".
	Description string
	// Safe tells that it keeps the meaning, so that it may be applied without asking.
	Safe  bool
	Edits []Edit
}

// Edit replaces a part of a file.
type Edit struct {
	File string
	source.Position
	NewText string
}

// Unevaluated is a rule that had something to check and could not.
type Unevaluated struct {
	Rule *Rule
	// Missing are the kinds that are not in the input, sorted.
	Missing []string
}

// Result is what linting an input gave.
type Result struct {
	// Findings in order of their places.
	Findings []Finding
	// Unevaluated rules by ID.
	Unevaluated []Unevaluated
	// Objects and Files read.
	Objects, Files int
	// Suppressed findings in order of their places. They are not among the findings.
	Suppressed []Suppressed
}

// Keep drops the findings for which keep is false.
func (r *Result) Keep(keep func(Finding) bool) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !keep(f) })
}

// Count returns how many findings have a severity.
func (r *Result) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Fingerprint tells the same finding in another state of the files: it holds the rule, the object, the field and the
// message, but no line.
func (f Finding) Fingerprint() string {
	return strings.Join([]string{f.Rule.ID, f.At.File, f.At.Object.String(), f.At.Path, f.Message}, "\x00")
}
