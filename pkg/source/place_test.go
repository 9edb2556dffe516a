package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at is the text between the ends of a position.
func at(text string, p Position) string {
	lines := strings.SplitAfter(text, "\n")
	start, end := 0, 0
	for i, l := range lines {
		if i < p.Line-1 {
			start += len(l)
		}
		if i < p.EndLine-1 {
			end += len(l)
		}
	}
	return text[start+p.Column-1 : end+p.EndColumn-1]
}

type fieldCase struct {
	path string
	line int
	want string
}

func checkFields(t *testing.T, text string, o *Origin, cases []fieldCase) {
	t.Helper()
	for _, c := range cases {
		p, ok := o.Field(c.path)
		if !ok {
			t.Errorf("%s: no position", c.path)
			continue
		}
		if got := at(text, p); got != c.want || p.Line != c.line {
			t.Errorf("%s: line %d %q, want line %d %q", c.path, p.Line, got, c.line, c.want)
		}
	}
}

const jsonFields = `[{"kind":"A","apiVersion":"v1"},
  {
    "kind": "B", "apiVersion": "v1",
    "labels": {"kueue.x-k8s.io/queue-name": "é", "": 1},
    "list": [ 1, {"x": [true, null]}, "\"]" ],
    "twice": 1, "twice": 2,
    "esc\u0061ped": {}
  }]`

func TestFieldOfJSON(t *testing.T) {
	docs := readText(t, jsonFields).docs
	checkFields(t, jsonFields, docs[0].Origin, []fieldCase{{"kind", 1, `"A"`}, {"", 1, `{"kind":"A","apiVersion":"v1"}`}})
	checkFields(t, jsonFields, docs[1].Origin, []fieldCase{
		{"kind", 3, `"B"`},
		{`labels["kueue.x-k8s.io/queue-name"]`, 4, `"é"`},
		{`labels['kueue.x-k8s.io/queue-name']`, 4, `"é"`},
		{`labels[""]`, 4, `1`},
		{"list[0]", 5, `1`},
		{"list[1].x[1]", 5, `null`},
		{"list[2]", 5, `"\"]"`},
		{"twice", 6, `2`},
		{"escaped", 7, `{}`},
		{"list[1].x[7].y", 5, `[true, null]`},
		{"list[1].nothing.here", 5, `{"x": [true, null]}`},
		{"list.x", 5, `[ 1, {"x": [true, null]}, "\"]" ]`},
		{`labels["unclosed`, 4, `{"kueue.x-k8s.io/queue-name": "é", "": 1}`},
	})
	if got, ok := docs[1].Origin.Text(3); !ok || got != `    "kind": "B", "apiVersion": "v1",` {
		t.Errorf("line 3 is %q, %v", got, ok)
	}
	if got, ok := docs[1].Origin.Text(2); !ok || got != "  {" {
		t.Errorf("line 2 is %q, %v", got, ok)
	}
	for _, line := range []int{0, 1, 9, -5} {
		if got, ok := docs[1].Origin.Text(line); ok {
			t.Errorf("line %d is not the object's, got %q", line, got)
		}
	}
}

const yamlFields = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: A
- apiVersion: v1
  kind: B
  labels: {kueue.x-k8s.io/queue-name: ä, b: [1, 2 ] } # comment
  "quoted key": "x\"y" # z
  single: 'it''s'
  plain: several
    words here # no
  block: |
    one

    two
  folded: >-
    three
  empty:
  list:
  - 1
  - x:
    - true
    y: !!str 5
  anchored: &a {p: 1}
  alias: *a
  merged: {<<: *a, q: 2}
  twice: 1
  twice: 2
---
kind: C
apiVersion: v1
spec:
  a:
    b: 1
`

func TestFieldOfYAML(t *testing.T) {
	docs := readText(t, yamlFields).docs
	checkFields(t, yamlFields, docs[1].Origin, []fieldCase{
		{"kind", 7, "B"},
		{`labels["kueue.x-k8s.io/queue-name"]`, 8, "ä"},
		{"labels.b", 8, "[1, 2 ]"},
		{"labels", 8, "{kueue.x-k8s.io/queue-name: ä, b: [1, 2 ] }"},
		{`["quoted key"]`, 9, `"x\"y"`},
		{"single", 10, "'it''s'"},
		{"plain", 11, "several\n    words here"},
		{"block", 13, "|\n    one\n\n    two"},
		{"folded", 17, ">-\n    three"},
		{"empty", 19, "empty"},
		{"list[0]", 21, "1"},
		{"list[1].x[0]", 23, "true"},
		{"list[1]", 22, "x:\n    - true\n    y: !!str 5"},
		{"list[1].y", 24, "!!str 5"},
		{"anchored.p", 25, "1"},
		{"anchored", 25, "&a {p: 1}"},
		{"alias", 26, "*a"},
		{"alias.p", 25, "1"},
		{"merged.q", 27, "2"},
		{"merged.p", 25, "1"},
		{"twice", 29, "2"},
		{"list[1].nothing", 22, "x:\n    - true\n    y: !!str 5"},
		{"list[9]", 21, "- 1\n  - x:\n    - true\n    y: !!str 5"},
	})
	checkFields(t, yamlFields, docs[2].Origin, []fieldCase{{"spec.a.b", 35, "1"}, {"spec.a.c", 35, "b: 1"}, {"kind", 31, "C"}})
	if got, ok := docs[1].Origin.Text(7); !ok || got != "  kind: B" {
		t.Errorf("line 7 is %q, %v", got, ok)
	}
}

// Objects of a list that is parsed as a whole stand at a path of it.
func TestFieldOfWholeYAML(t *testing.T) {
	text := "kind: List\napiVersion: v1\nitems: [\n {kind: A, apiVersion: v1},\n {kind: List, apiVersion: v1, items: [\n {kind: B, apiVersion: v1}]}]\n"
	docs := readText(t, text).docs
	checkFields(t, text, docs[0].Origin, []fieldCase{{"kind", 4, "A"}, {"", 4, "{kind: A, apiVersion: v1}"}})
	checkFields(t, text, docs[1].Origin, []fieldCase{{"kind", 6, "B"}, {"", 6, "{kind: B, apiVersion: v1}"}})

	text = "- {kind: A, apiVersion: v1}\n- kind: B\n  apiVersion: v1\n"
	docs = readText(t, text).docs
	checkFields(t, text, docs[1].Origin, []fieldCase{{"kind", 2, "B"}, {"", 2, "kind: B\n  apiVersion: v1"}})
}

// The origins of the objects of a file read it again, from several goroutines at once.
func TestFieldOfFile(t *testing.T) {
	for name, text := range map[string]string{"a.json": jsonFields, "a.yaml": yamlFields} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, text)
		r := &recorder{}
		if err := Read(context.Background(), Options{Filenames: []string{path}}, r); err != nil {
			t.Fatal(err)
		}
		want := readText(t, text).docs
		var wait sync.WaitGroup
		for i, d := range r.docs {
			for _, field := range []string{"", "kind", "list[1].x[0]", "labels"} {
				wait.Go(func() {
					got, ok := d.Origin.Field(field)
					wanted, _ := want[i].Origin.Field(field)
					if !ok || got != wanted {
						t.Errorf("%s %s: %v, want %v", d.Origin, field, got, wanted)
					}
				})
			}
		}
		wait.Wait()
	}
}

// Places that were not found before are not looked for in a file that is another one by now.
func TestFieldOfAFileThatHasChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	write(t, path, jsonFields)
	r := &recorder{}
	if err := Read(context.Background(), Options{Filenames: []string{path}}, r); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if got, ok := r.docs[0].Origin.Field("kind"); ok {
		t.Errorf("the file changed, but kind is at %v", got)
	}
}

func TestOriginWithoutPlace(t *testing.T) {
	for want, o := range map[string]*Origin{"": nil, "prod": {Cluster: "prod", ResourceVersion: "7"}} {
		if _, ok := o.Field("kind"); ok {
			t.Errorf("%v has a position", o)
		}
		if _, ok := o.Text(1); ok {
			t.Errorf("%v has a text", o)
		}
		if diff := cmp.Diff(want, o.String()); diff != "" {
			t.Error(diff)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
