package lint

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// AtDocument is a field of a document as it stands in a file, whatever version it is written in.
func AtDocument(d *source.Document, path string) Place {
	ref := cluster.Ref{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace(), Name: d.Name()}
	return Place{Ref: ref, Origin: d.Origin, Path: path}
}

// GroupOf is the API group of a document.
func GroupOf(d *source.Document) string {
	gv, err := schema.ParseGroupVersion(d.APIVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

// FieldPath finds in a document's JSON the field that a decoder names by its steps joined with dots, though keys may
// hold dots themselves: `spec.devices[0].attributes.gpu.example.com/x.q` becomes one that [source.Origin.Field] takes.
func FieldPath(data []byte, joined string) string {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return joined
	}
	path, ok := follow(value, joined)
	if !ok {
		return joined
	}
	return path
}

func follow(value any, rest string) (string, bool) {
	rest = strings.TrimPrefix(rest, ".")
	if rest == "" {
		return "", true
	}
	if rest[0] == '[' {
		index, after, ok := strings.Cut(rest[1:], "]")
		list, isList := value.([]any)
		n := 0
		for _, c := range index {
			n = n*10 + int(c-'0')
		}
		if !ok || !isList || n < 0 || n >= len(list) {
			return "", false
		}
		path, found := follow(list[n], after)
		return "[" + index + "]" + path, found
	}
	object, _ := value.(map[string]any)
	best, found := "", false
	for key, child := range object {
		after, ok := strings.CutPrefix(rest, key)
		if !ok || after != "" && after[0] != '.' && after[0] != '[' {
			continue
		}
		if path, ok := follow(child, after); ok && (!found || len(key) > len(best)) {
			best, found = step(key)+path, true
		}
	}
	return best, found
}

// step writes a key as a step of a path.
func step(key string) string {
	if strings.ContainsAny(key, `.[]"'`) {
		quoted, _ := json.Marshal(key)
		return "[" + string(quoted) + "]"
	}
	return "." + key
}
