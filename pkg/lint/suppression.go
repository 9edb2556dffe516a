package lint

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// IgnoreComment begins a comment that suppresses findings on its line, or on the next one when it stands alone:
//
//	# gpu-quota:ignore GQ203 the largest partition is meant
const IgnoreComment = "gpu-quota:ignore"

// IgnoreAnnotation on an object suppresses findings about it: `GQ203: reason; GQ318: reason`.
const IgnoreAnnotation = "gpuquota.dev/ignore"

var (
	ignoreComment        = []byte(IgnoreComment)
	ignoreAnnotationName = []byte(IgnoreAnnotation)
)

// Suppression keeps findings of some rules from being reported, at one place.
type Suppression struct {
	// Rules are the IDs of the rules.
	Rules []string
	// Reason it gives; empty when it gives none.
	Reason string
	// At is the comment or the annotation.
	At Location
	// line is the one that a comment is about. It is 0 for an annotation, which is about a whole object.
	line int
	// open tells that a blank ends the list of rules, so that a rule may stand at the start of the reason.
	open bool
}

// ignored is the list of rules at the start of a suppression. Behind a blank only the program's own rules are taken for
// one, since a reason may begin with a word like GB200; those of packs are known when the rules are
// ([Suppression.resolve]).
var ignored = regexp.MustCompile(`^[A-Z][A-Z0-9_-]*[0-9](?:\s*,\s*[A-Z][A-Z0-9_-]*[0-9]|\s+GQ[0-9]{3})*(?:[\s:;]|$)`)

var ignoredRule = regexp.MustCompile(`[A-Z][A-Z0-9_-]*[0-9]`)

// parseIgnored splits `GQ203, GQ204: reason`. Without a rule there is no suppression of anything.
func parseIgnored(text string) (s Suppression) {
	text = strings.TrimSpace(text)
	list := ignored.FindString(text)
	for _, id := range ignoredRule.FindAllString(list, -1) {
		if !slices.Contains(s.Rules, id) {
			s.Rules = append(s.Rules, id)
		}
	}
	s.open = list != "" && !strings.HasSuffix(list, ":") && !strings.HasSuffix(list, ";")
	s.Reason = strings.TrimSpace(strings.TrimLeft(text[len(list):], reasonMarks))
	return s
}

// reasonMarks may stand between the rules and the reason.
const reasonMarks = " \t:-–—"

// resolve takes the rules of packs out of the start of the reason, where they follow other rules behind a blank.
func (s *Suppression) resolve(rules []*Rule) {
	for s.open {
		word, rest, _ := strings.Cut(s.Reason, " ")
		id := strings.TrimRight(word, ",:;")
		if r := Find(rules, id); r == nil || r.ID != id {
			return
		}
		if !slices.Contains(s.Rules, id) {
			s.Rules = append(s.Rules, id)
		}
		s.open = id == word || strings.HasSuffix(word, ",")
		s.Reason = strings.TrimSpace(strings.TrimLeft(rest, reasonMarks))
	}
}

// commented finds the suppressions in the comments of a YAML text that begins on the given line of a file.
func commented(file string, line int, text []byte) []Suppression {
	var out []Suppression
	counted := 0 // line is that of the byte at counted
	for at := 0; ; {
		n := bytes.Index(text[at:], ignoreComment)
		if n < 0 {
			return out
		}
		found := at + n
		at = found + len(ignoreComment)
		start := bytes.LastIndexByte(text[:found], '\n') + 1
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		if s, ok := comment(file, line, text, start, found-start); ok {
			out = append(out, s)
		}
	}
}

// comment reads the comment whose marker stands at an offset of the line that begins at start.
func comment(file string, line int, text []byte, start, marker int) (Suppression, bool) {
	whole := lineAt(text, start)
	before := strings.TrimRight(whole[:marker], " \t")
	after := whole[marker+len(IgnoreComment):]
	before, ok := strings.CutSuffix(before, "#")
	blank := strings.TrimSpace(before) == ""
	if !ok || !blank && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\t") || after != "" &&
		!strings.ContainsAny(after[:1], " \t") {
		return Suppression{}, false
	}
	if end := strings.Index(after, " #"); end >= 0 {
		after = after[:end] // a comment of another tool
	}
	if inString(text, start, before) {
		return Suppression{}, false
	}
	s := parseIgnored(after)
	s.line = line
	s.At = Location{File: file, written: whole}
	s.At.Position = source.Position{Line: line, Column: len(before) + 1, EndLine: line,
		EndColumn: marker + len(IgnoreComment) + len(strings.TrimRight(after, " \t")) + 1}
	if blank {
		s.line = nextLine(text, start, line)
	}
	return s, true
}

// nextLine is the number of the first line behind the one at start that holds more than a comment; 0 when none does.
func nextLine(text []byte, start, line int) int {
	for {
		end := bytes.IndexByte(text[start:], '\n')
		if end < 0 {
			return 0
		}
		start, line = start+end+1, line+1
		if t := strings.TrimSpace(lineAt(text, start)); t != "" && t[0] != '#' && t != "---" {
			return line
		}
	}
}

func lineAt(text []byte, start int) string {
	rest := text[start:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return string(bytes.TrimRight(rest, "\r"))
}

// annotated are the suppressions in the annotation of an object.
func annotated(d *source.Document) []Suppression {
	var head struct {
		Metadata struct{ Annotations map[string]string }
	}
	if json.Unmarshal(d.JSON, &head) != nil {
		return nil
	}
	var out []Suppression
	value := head.Metadata.Annotations[IgnoreAnnotation]
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ';' || r == '\n' }) {
		s := parseIgnored(part)
		switch {
		case strings.TrimSpace(part) == "":
		case len(s.Rules) == 0 && len(out) > 0:
			out[len(out)-1].Reason += "; " + s.Reason
		default:
			s.At = AtDocument(d, `metadata.annotations["`+IgnoreAnnotation+`"]`).Location()
			out = append(out, s)
		}
	}
	return out
}

// covers tells that a finding stands where the suppression is about.
func (s *Suppression) covers(f *Finding) bool {
	if s.line > 0 {
		return f.At.File == s.At.File && f.At.Line == s.line
	}
	if s.At.origin == nil {
		return false // a comment with no line to be about
	}
	return f.At.origin == s.At.origin || sameObject(s.At.Object, f.At.Object)
}

// sameObject compares an object as it is written with one as it is read: in the newest version, with a namespace.
func sameObject(written, read cluster.Ref) bool {
	return written.Name != "" && written.Name == read.Name && written.GroupKind() == read.GroupKind() &&
		written.Namespace == read.Namespace
}
