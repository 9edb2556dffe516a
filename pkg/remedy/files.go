package remedy

import (
	"encoding/json"
	"strings"
)

// inFiles words changes of manifests that were given with -f as edits of the file: they are not in the cluster, so no
// command can patch them there.
func (f *Finder) inFiles(remedies []Remedy) []Remedy {
	for i := range remedies {
		r := &remedies[i]
		if r.Patch == "" || len(r.Changes) == 0 {
			continue
		}
		ref := r.Changes[0].Ref
		o := f.snap.Get(ref.GroupKind(), ref.Namespace, ref.Name)
		if o == nil || !o.Laid {
			continue
		}
		if text := editsOf(r.Changes[0].Patch); text != "" {
			r.Action, r.Patch = r.Action+": "+text+" in "+o.Origin.String(), ""
		}
	}
	return remedies
}

// editsOf says what a JSON patch does.
func editsOf(patch []byte) string {
	var ops []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if json.Unmarshal(patch, &ops) != nil {
		return ""
	}
	out := make([]string, len(ops))
	for i, o := range ops {
		switch {
		case o.Op == "remove":
			out[i] = "remove " + fieldOf(o.Path)
		case strings.HasSuffix(o.Path, "/-"):
			out[i] = "add " + string(o.Value) + " to " + fieldOf(strings.TrimSuffix(o.Path, "/-"))
		default:
			out[i] = "set " + fieldOf(o.Path) + " to " + string(o.Value)
		}
	}
	return strings.Join(out, ", ")
}

// fieldOf writes a JSON pointer as kubectl writes fields: spec.podSets[0].count, metadata.labels["a.b/c"].
func fieldOf(pointer string) string {
	var out strings.Builder
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch {
		case strings.Trim(part, "0123456789") == "":
			out.WriteString("[" + part + "]")
		case strings.ContainsAny(part, "./"):
			out.WriteString(`["` + part + `"]`)
		default:
			out.WriteString("." + part)
		}
	}
	return strings.TrimPrefix(out.String(), ".")
}
