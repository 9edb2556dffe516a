package report

import (
	"iter"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// FindingList is the result of `lint`. Findings are sorted by file, place, rule and message.
type FindingList struct {
	TypeMeta
	Kueue    Kueue          `json:"kueue"`
	Summary  FindingSummary `json:"summary"`
	Objects  int            `json:"objects"`
	Files    int            `json:"files"`
	Unknown  []UnknownRule  `json:"unknown"`
	Findings []Finding      `json:"findings"`
}

// FindingSummary counts findings.
type FindingSummary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	// Suppressed findings are not in the list.
	Suppressed int `json:"suppressed"`
}

// UnknownRule is a rule that had something to check and could not.
type UnknownRule struct {
	Rule string `json:"rule"`
	// Missing are the kinds that are not in the input.
	Missing []string `json:"missing"`
}

// Finding is one thing a rule found.
type Finding struct {
	// Rule is the ID of the rule, Name the same in words.
	Rule     string `json:"rule"`
	Name     string `json:"name"`
	Severity string `json:"severity" jsonschema:"enum=error,enum=warning,enum=info"`
	Message  string `json:"message"`
	// Help says what to do.
	Help string `json:"help,omitempty"`
	// Object the finding is about; null for a document that could not be read.
	Object *cluster.Ref `json:"object" jsonschema:"nullable"`
	// Path of the field; empty for the whole object.
	Path string `json:"path,omitempty"`
	Range
	// Cause is the field the finding follows from, when it is another one. Findings of one rule with one cause are one
	// fault, seen from several objects.
	Cause *RelatedPlace `json:"cause,omitempty"`
	// Related are the other facts it rests on.
	Related []RelatedPlace `json:"related"`
	Fix     *Fix           `json:"fix,omitempty"`
}

// Range is a part of a file. Lines and columns count from 1, columns in bytes; the end column is that behind the last
// byte. All are missing for objects of a live cluster.
type Range struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
}

// RelatedPlace is a fact a finding rests on.
type RelatedPlace struct {
	Object cluster.Ref `json:"object"`
	Path   string      `json:"path,omitempty"`
	Value  string      `json:"value,omitempty"`
	// Message says what is seen there.
	Message string `json:"message,omitempty"`
	Range
}

// Fix is a change that removes a finding.
type Fix struct {
	Description string `json:"description"`
	// Safe tells that --fix applies it.
	Safe  bool   `json:"safe"`
	Edits []Edit `json:"edits"`
}

// Edit replaces a part of a file.
type Edit struct {
	Range
	NewText string `json:"newText"`
}

// Findings is the result of `lint`.
type Findings struct {
	conf   *config.Config
	result *lint.Result
	// tool is the version of this program, for formats that name it.
	tool string
	// rules are all rules that were applied.
	rules []*lint.Rule
}

// NewFindings returns the result of linting with rules by a version of the program.
func NewFindings(conf *config.Config, result *lint.Result, rules []*lint.Rule, tool string) *Findings {
	return &Findings{conf: conf, result: result, rules: rules, tool: tool}
}

func (d *Findings) listName() string { return "findings" }

// findingHead is a FindingList before its findings.
type findingHead struct {
	TypeMeta
	Kueue   Kueue          `json:"kueue"`
	Summary FindingSummary `json:"summary"`
	Objects int            `json:"objects"`
	Files   int            `json:"files"`
	Unknown []UnknownRule  `json:"unknown"`
}

// Head implements [Document].
func (d *Findings) Head() any {
	r := d.result
	head := findingHead{
		TypeMeta: TypeMeta{APIVersion,
			"FindingList"}, Kueue: kueueOf(d.conf), Objects: r.Objects, Files: r.Files, Unknown: []UnknownRule{},
		Summary: FindingSummary{Errors: r.Count(lint.Error), Warnings: r.Count(lint.Warning), Infos: r.Count(lint.Info),
			Suppressed: len(r.Suppressed)},
	}
	for _, u := range r.Unevaluated {
		head.Unknown = append(head.Unknown, UnknownRule{Rule: u.Rule.ID, Missing: u.Missing})
	}
	return head
}

// Items implements [Document].
func (d *Findings) Items() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, f := range d.result.Findings {
			if !yield(newFinding(f)) {
				return
			}
		}
	}
}

// Names implements [Document].
func (d *Findings) Names() iter.Seq[cluster.Ref] {
	return func(yield func(cluster.Ref) bool) {
		for _, f := range d.result.Findings {
			if !f.At.Object.IsZero() && !yield(f.At.Object) {
				return
			}
		}
	}
}

func newFinding(f lint.Finding) Finding {
	out := Finding{
		Rule: f.Rule.ID, Name: f.Rule.Name, Severity: string(f.Severity), Message: f.Message, Help: f.Help,
		Path: f.At.Path, Range: rangeOf(f.At), Related: []RelatedPlace{},
	}
	if !f.At.Object.IsZero() {
		object := f.At.Object
		out.Object = &object
	}
	if f.Cause.Compare(f.At) != 0 {
		cause := relatedPlace(f.Cause)
		out.Cause = &cause
	}
	for _, l := range f.Related {
		out.Related = append(out.Related, relatedPlace(l))
	}
	if f.Fix != nil {
		out.Fix = &Fix{Description: f.Fix.Description, Safe: f.Fix.Safe, Edits: []Edit{}}
		for _, e := range f.Fix.Edits {
			out.Fix.Edits = append(out.Fix.Edits,
				Edit{Range{e.File, e.Line, e.Column, e.EndLine, e.EndColumn}, e.NewText})
		}
	}
	return out
}

func rangeOf(l lint.Location) Range { return Range{l.File, l.Line, l.Column, l.EndLine, l.EndColumn} }

func relatedPlace(l lint.Location) RelatedPlace {
	return RelatedPlace{Object: l.Object, Path: l.Path, Value: l.Value, Message: l.Label, Range: rangeOf(l)}
}
