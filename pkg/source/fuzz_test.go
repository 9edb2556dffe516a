package source

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// seeds are inputs of every format, whole and broken.
var seeds = []string{
	"", "{", "[", "---", "\xef\xbb\xbf", "{}", "[[]]", "- a\n- b", "a: b: c", "a: \"x\n", jsonFields, yamlFields,
	`{"apiVersion":"batch/v1","items":[{"metadata":{}}],"kind":"JobList","metadata":{"continue":"x"}}`,
	`{"kind":"List","items":[{"apiVersion":"v1","kind":"A","x":"\u00e9\\\"","n":-1.5e+3},{"x":}]}`,
	"{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n{\"x\":[1,2\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n---\nkind: C\napiVersion: v1\n",
	"apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\n- x: *y\n- b: &y {<<: *y}\nmetadata: {}\n",
	"%YAML 1.1\r\n---\r\nkind: A\r\napiVersion: v1\r\nx: |\r\n  a\r\n...\r\n# end\r\n",
	"items:\n  - kind: A\n    apiVersion: v1\n  -\n    kind: List\n    items: [{kind: B, apiVersion: v1}]\nkind: List\n",
	"? [a]\n: b\n", "a: !!binary aGk=\nb: !<tag> x\nc: >-\n  x\n\n  y\nd: 'it''s'\n",
}

// checkRead reads any bytes and checks what must hold for every input.
func checkRead(t *testing.T, data []byte) *recorder {
	t.Helper()
	r := &recorder{unwanted: map[string]bool{"Secret": true}}
	if err := ReadBytes(context.Background(), "f", data, r); err != nil {
		t.Fatal(err)
	}
	last := 1 + bytes.Count(data, newline)
	for i, d := range r.docs {
		if d.APIVersion == "" || d.Kind == "" || !json.Valid(d.JSON) || !utf8.Valid(d.JSON) {
			t.Errorf("%s/%s is not a document: %q", d.APIVersion, d.Kind, d.JSON)
		}
		if d.Seq != i || d.Origin.Line < 1 || d.Origin.Line > last {
			t.Errorf("seq %d, line %d of %d", d.Seq, d.Origin.Line, last)
		}
	}
	return r
}

func FuzzRead(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := checkRead(t, data)
		// In pieces, and without a way to read the input again, the objects are the same.
		got := &recorder{unwanted: want.unwanted}
		in := &input{name: "f", out: &emitter{ctx: context.Background(), sink: got}, places: &placeCache{}}
		in.read(iotest.OneByteReader(bytes.NewReader(data)))
		if got.String() != want.String() {
			t.Errorf("in pieces:\n%s\nat once:\n%s", got, want)
		}
		// So are they when every part is converted at the same time.
		got = &recorder{unwanted: want.unwanted}
		in = &input{name: "f", out: &emitter{ctx: context.Background(), sink: got, batch: 1}, places: &placeCache{}}
		in.read(bytes.NewReader(data))
		if got.String() != want.String() {
			t.Errorf("together:\n%s\none after another:\n%s", got, want)
		}
	})
}

func FuzzField(f *testing.F) {
	for _, s := range seeds {
		for _, path := range []string{"", "kind", `labels["kueue.x-k8s.io/queue-name"]`, "list[1].x[0]", "a['b'].[", "[0].x", "merged.p"} {
			f.Add([]byte(s), path)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		lines := strings.Split(string(data), "\n")
		for _, d := range checkRead(t, data).docs {
			whole, ok := d.Origin.Field("")
			p, found := d.Origin.Field(path)
			if !ok || !found {
				continue // YAML that only version 2 of its library parses
			}
			for _, p := range []Position{whole, p} {
				if p.Line < 1 || p.EndLine > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 ||
					p.EndColumn < 1 || p.EndColumn > len(lines[p.EndLine-1])+1 || p.EndLine < p.Line {
					t.Fatalf("%q: %s is at %v", data, path, p)
				}
			}
			d.Origin.Text(p.Line)
		}
	})
}

// The skipping scanner accepts exactly what encoding/json accepts.
func FuzzSkip(f *testing.F) {
	for _, s := range append(seeds, "-0.5e-7", "01", "1.", "[1,]", `{"a":1,}`, "nul", `"\ud800"`, strings.Repeat("[", 10000)+strings.Repeat("]", 10000), strings.Repeat("[", 10001)+strings.Repeat("]", 10001)) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := windowOn(data, 0, 1)
		_, ok := w.next()
		ok = ok && w.skipValue() == nil
		if ok {
			_, more := w.next()
			ok = !more
		}
		if ok != json.Valid(data) {
			t.Errorf("%q: accepted %v, encoding/json %v", data, ok, json.Valid(data))
		}
	})
}
