package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// currentAPI is the version that device requests are turned into.
const currentAPI = "resource.k8s.io/v1"

// writeCurrent is a fix that turns a claim, a template or a class of an older version of resource.k8s.io into v1. Nil
// where the document can't be turned as it is written.
func writeCurrent(p *lint.Pass, d *source.Document) *lint.Fix {
	if d.Kind != cluster.ResourceClaim.Kind && d.Kind != cluster.ResourceClaimTemplate.Kind &&
		d.Kind != cluster.DeviceClass.Kind ||
		d.APIVersion != "resource.k8s.io/v1beta1" && d.APIVersion != "resource.k8s.io/v1beta2" {
		return nil
	}
	fix := p.Replace(lint.AtDocument(d, "apiVersion"), currentAPI, "write it in "+currentAPI)
	edits, ok := exactlyEdits(d)
	if fix == nil || !ok {
		return nil
	}
	fix.Edits = append(fix.Edits, edits...)
	return fix
}

// writeExactly is a fix for a document of v1 or v1beta2 whose requests are those of v1beta1.
func writeExactly(d *source.Document) *lint.Fix {
	if edits, ok := exactlyEdits(d); ok && len(edits) > 0 {
		return &lint.Fix{Description: "write the request under exactly", Safe: true, Edits: edits}
	}
	return nil
}

// exactlyEdits put the fields of flat requests under exactly. ok is false when one is written in a way that can't be
// kept.
func exactlyEdits(d *source.Document) (edits []lint.Edit, ok bool) {
	path := map[string]string{cluster.ResourceClaim.Kind: "spec",
		cluster.ResourceClaimTemplate.Kind: "spec.spec"}[d.Kind]
	var value any
	if path == "" || json.Unmarshal(d.JSON, &value) != nil {
		return nil, path == ""
	}
	for _, step := range append(strings.Split(path, "."), "devices", "requests") {
		object, _ := value.(map[string]any)
		value = object[step]
	}
	requests, _ := value.([]any)
	for i, r := range requests {
		fields, isObject := r.(map[string]any)
		if !isObject {
			return nil, false
		}
		edit, needed, ok := exactlyEdit(d, fmt.Sprintf("%s.devices.requests[%d]", path, i), fields)
		if !ok {
			return nil, false
		}
		if needed {
			edits = append(edits, edit)
		}
	}
	return edits, true
}

// part is one field of a request: where its key and its value stand.
type part struct {
	key, value lint.Location
	kept       bool
}

// exactlyEdit is the edit of one request. needed is false when it has its fields where they belong.
func exactlyEdit(d *source.Document, path string, fields map[string]any) (edit lint.Edit, needed, ok bool) {
	whole := lint.AtDocument(d, path).Location()
	var parts []part
	moved := 0
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := lint.AtDocument(d, path+"."+name)
		x := part{key: field.Name().Location(), value: field.Location(), kept: name == "name" ||
			name == "firstAvailable" || name == "exactly"}
		if before(x.key.Position, whole.Position) ||
			before(source.Position{Line: whole.EndLine, Column: whole.EndColumn}, x.key.Position) {
			return edit, true, false // merged from elsewhere
		}
		if !x.kept {
			moved++
		}
		parts = append(parts, x)
	}
	if moved == 0 {
		return edit, false, true
	}
	if fields["exactly"] != nil || fields["firstAvailable"] != nil {
		return edit, true, false // which of both is meant?
	}
	slices.SortFunc(parts, func(a, b part) int { return a.key.Compare(b.key) })
	text, ok := whole.Written()
	switch {
	case !ok:
		return edit, true, false
	case strings.HasPrefix(text, "{"):
		edit, ok = exactlyInFlow(whole, text, parts)
	default:
		edit, ok = exactlyInBlock(whole, parts)
	}
	return edit, true, ok
}

func before(a, b source.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// exactlyInFlow rewrites `{name: gpu, deviceClassName: x}`. What stands on several lines is changed only where the
// fields to move follow each other, so that comments stay.
func exactlyInFlow(whole lint.Location, text string, parts []part) (lint.Edit, bool) {
	written := make([]string, len(parts))
	for i, x := range parts {
		whole := x.key
		whole.EndLine, whole.EndColumn = x.value.EndLine, x.value.EndColumn
		var ok bool
		if written[i], ok = whole.Written(); !ok {
			return lint.Edit{}, false
		}
	}
	first := slices.IndexFunc(parts, func(x part) bool { return !x.kept })
	key := "exactly"
	if quote := written[first][:1]; quote == `"` || quote == "'" {
		key = quote + key + quote
	}
	if strings.Contains(text, "\n") {
		return exactlyOverLines(parts, first, key)
	}
	open, shut := "{", "}"
	if strings.HasPrefix(text, "{ ") {
		open, shut = "{ ", " }"
	}
	var kept, moved []string
	for i, x := range parts {
		if x.kept {
			kept = append(kept, written[i])
		} else {
			moved = append(moved, written[i])
		}
	}
	kept = append(kept, key+": "+open+strings.Join(moved, ", ")+shut)
	return lint.Edit{File: whole.File, Position: whole.Position, NewText: open + strings.Join(kept, ", ") + shut}, true
}

func exactlyOverLines(parts []part, first int, key string) (lint.Edit, bool) {
	last := len(parts) - 1
	for parts[last].kept {
		last--
	}
	if slices.ContainsFunc(parts[first:last+1], func(x part) bool { return x.kept }) {
		return lint.Edit{}, false
	}
	run := parts[first].key
	run.EndLine, run.EndColumn = parts[last].value.EndLine, parts[last].value.EndColumn
	text, ok := run.Written()
	line, lineOK := run.Text(run.Line)
	if !ok || !lineOK || strings.TrimSpace(line[:run.Column-1]) != "" {
		return lint.Edit{}, false
	}
	indent := line[:run.Column-1]
	body := strings.ReplaceAll(indent+text, "\n", "\n  ")
	return lint.Edit{File: run.File, Position: run.Position, NewText: key + ": {\n  " + body + "\n" + indent + "}"},
		true
}

// exactlyInBlock rewrites the lines of a request in block style. Comments go with the field below them.
func exactlyInBlock(whole lint.Location, parts []part) (lint.Edit, bool) {
	first, ok := whole.Text(whole.Line)
	if !ok || whole.Column < 3 || strings.TrimLeft(first[:whole.Column-1], " ") != "-"+
		strings.Repeat(" ", len(strings.TrimLeft(first[:whole.Column-1], " "))-1) {
		return lint.Edit{}, false
	}
	dash := strings.IndexByte(first, '-')
	indent := strings.Repeat(" ", whole.Column-1)
	starts := make([]int, len(parts)+1)
	for i, x := range parts {
		if x.key.Column != whole.Column || i > 0 && x.key.Line == parts[i-1].key.Line {
			return lint.Edit{}, false
		}
		starts[i] = x.key.Line
		for i > 0 && starts[i]-1 > parts[i-1].key.Line {
			above, _ := whole.Text(starts[i] - 1)
			if !strings.HasPrefix(above, indent+"#") {
				break
			}
			starts[i]--
		}
	}
	starts[len(parts)] = whole.EndLine + 1
	var out, moved []string
	at := -1
	for i, x := range parts {
		if !x.kept && at < 0 {
			at = len(out)
		}
		for n := starts[i]; n < starts[i+1]; n++ {
			line, ok := whole.Text(n)
			if !ok {
				return lint.Edit{}, false
			}
			if n == whole.Line {
				line = line[:dash] + " " + line[dash+1:]
			}
			if x.kept {
				out = append(out, line)
			} else {
				moved = append(moved, lint.Indent(line, "  "))
			}
		}
	}
	out = slices.Insert(out, at, append([]string{indent + "exactly:"}, moved...)...)
	out[0] = out[0][:dash] + "-" + out[0][dash+1:]
	return lint.ReplaceLines(whole, strings.Join(out, "\n"))
}
