package source

import (
	"fmt"
	"strings"
)

// recorder writes down what a reader finds, one line each.
type recorder struct {
	unwanted map[string]bool // by kind
	docs     []Document
	lines    []string
}

func (r *recorder) Want(_, kind string) bool { return !r.unwanted[kind] }

func (r *recorder) Document(d Document) {
	r.docs = append(r.docs, d)
	r.note("%s %s/%s %s", d.Origin, d.APIVersion, d.Kind, d.JSON)
}

func (r *recorder) Listed(apiVersion, kind string) { r.note("listed %s/%s", apiVersion, kind) }

func (r *recorder) Missing(group, kind, reason string) {
	r.note("missing %s.%s: %s", kind, group, reason)
}

func (r *recorder) Problem(p Problem) { r.note("problem %s", p) }

func (r *recorder) note(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) String() string { return strings.Join(r.lines, "\n") + "\n" }
