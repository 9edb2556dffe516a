package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// block is a value as the YAML printer writes it.
func block(v any) []byte {
	var b bytes.Buffer
	y := yamlWriter{bufio.NewWriter(&b)}
	y.value(v, 0)
	y.text("\n")
	y.out.Flush()
	return b.Bytes()
}

func TestScalarsKeepTheirType(t *testing.T) {
	cases := map[string]string{
		"gpu.memory": "gpu.memory", "4864Mi": "4864Mi", "500m": "500m", "1k": "1k", "container requests": "container requests",
		"3": `"3"`, "1e3": `"1e3"`, "0x10": `"0x10"`, "1_000": `"1_000"`, "2026-03-01T12:00:00Z": `"2026-03-01T12:00:00Z"`,
		"true": `"true"`, "No": `"No"`, "null": `"null"`, "": `""`, "~": `"~"`, " a": `" a"`, "a ": `"a "`,
		"a: b": `"a: b"`, "a #b": `"a #b"`, "- a": `"- a"`, "two\nlines": `"two\nlines"`, "→": `"→"`, "del\x7f": `"del\u007f"`,
	}
	for in, want := range cases {
		if got := scalar(in); got != want {
			t.Errorf("scalar(%q) = %s, want %s", in, got, want)
		}
		var back any
		if err := yaml.Unmarshal([]byte(scalar(in)), &back); err != nil || back != in {
			t.Errorf("scalar(%q) reads back as %#v (%v)", in, back, err)
		}
	}
}

func TestBlocksReadBackAsTheyWere(t *testing.T) {
	values := map[string]string{
		"nested":           `{"a":{"b":[{"c":1,"d":[]},{"e":{}}],"f":null},"g":[["x","y"],[]],"h":true}`,
		"empty list":       `[]`,
		"empty map":        `{}`,
		"list of lists":    `[[[1,2],[3]],[[]]]`,
		"numbers":          `{"big":9223372036854775807,"small":-1,"float":1.5}`,
		"keys like values": `{"true":1,"1":2,"a: b":3}`,
	}
	for name, text := range values {
		t.Run(name, func(t *testing.T) {
			v, err := generic(json.RawMessage(text))
			if err != nil {
				t.Fatal(err)
			}
			back, err := yaml.YAMLToJSON(block(v))
			if err != nil {
				t.Fatalf("%v in\n%s", err, block(v))
			}
			want, _ := yaml.YAMLToJSON([]byte(text))
			if diff := cmp.Diff(string(want), string(back)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, block(v))
			}
		})
	}
}

func FuzzScalar(f *testing.F) {
	for _, s := range []string{"4864Mi", "a: b", "\x7f\u0085\u2028", "- x", "0o7", "!!str", "&a", "*a", "@", "`", "%", "? a", "\ufeff", "1__", "a\tb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip("JSON holds no such string")
		}
		var back map[string]any
		text := block(map[string]any{"k": s, "l": []any{s}})
		if err := yaml.Unmarshal(text, &back); err != nil {
			t.Fatalf("%v in\n%q", err, text)
		}
		if diff := cmp.Diff(map[string]any{"k": s, "l": []any{s}}, back); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	})
}
