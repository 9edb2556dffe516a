package source

import (
	"context"
	"encoding/json"
	"testing"
)

func TestFieldsOfAnEmbeddedDocument(t *testing.T) {
	const config = "kind: Configuration\nresources:\n  mappings:\n  - name: gpu.memory\n"
	tests := map[string]struct {
		in, path  string
		line, col int
		text      string
	}{
		"in a literal block": {"kind: ConfigMap\napiVersion: v1\ndata:\n  config.yaml: |\n    kind: Configuration\n    resources:\n      mappings:\n      - name: gpu.memory\n",
			"resources.mappings[0].name", 8, 15, "      - name: gpu.memory"},
		"a field that is not there": {"kind: ConfigMap\napiVersion: v1\ndata:\n  config.yaml: |\n    kind: Configuration\n    resources:\n      mappings:\n      - name: gpu.memory\n",
			"resources.other", 7, 7, "      mappings:"},
		"in a quoted line": {"kind: ConfigMap\napiVersion: v1\ndata:\n  config.yaml: " + quoted(config) + "\n",
			"resources.mappings[0].name", 4, 16, ""},
		"as JSON": {`{"kind":"ConfigMap","apiVersion":"v1",` + "\n" + `"data":{"config.yaml":` + quoted(config) + `}}`,
			"resources.mappings[0].name", 2, 23, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			if err := ReadBytes(context.Background(), "cm.yaml", []byte(tc.in), r); err != nil || len(r.docs) != 1 {
				t.Fatalf("%v %s", err, r)
			}
			o := r.docs[0].Origin.Embedded(`data["config.yaml"]`, config)
			pos, ok := o.Field(tc.path)
			if !ok || pos.Line != tc.line || pos.Column != tc.col {
				t.Errorf("at %d:%d (%v), want %d:%d", pos.Line, pos.Column, ok, tc.line, tc.col)
			}
			if got, _ := o.Text(pos.Line); tc.text != "" && got != "    "[:max(0, len(got)-len(tc.text))]+tc.text {
				t.Errorf("line %q, want %q", got, tc.text)
			}
		})
	}
}

func TestFieldsOfTextReadApart(t *testing.T) {
	o := TextOrigin("kueue.yaml", 5, "kind: Configuration\nresources:\n  mappings: [{name: a}]\n")
	pos, ok := o.Field("resources.mappings[0].name")
	if line, _ := o.Text(7); !ok || pos.Line != 7 || pos.Column != 21 || line != "  mappings: [{name: a}]" {
		t.Errorf("at %+v %v, line %q", pos, ok, line)
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
