package source

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readText reads text as a file called f.
func readText(t *testing.T, text string) *recorder {
	t.Helper()
	r := &recorder{unwanted: map[string]bool{"Secret": true}}
	if err := ReadBytes(context.Background(), "f", []byte(text), r); err != nil {
		t.Fatal(err)
	}
	return r
}

type readCase struct {
	name string
	in   string
	want string
}

func runReadCases(t *testing.T, cases []readCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimLeft(c.want, "\n"), strings.TrimLeft(readText(t, c.in).String(), "\n")); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	runReadCases(t, []readCase{{
		name: "one object",
		in:   "\n  {\"kind\": \"Job\", \"apiVersion\": \"batch/v1\"}\n",
		want: "f:2 batch/v1/Job {\"kind\": \"Job\", \"apiVersion\": \"batch/v1\"}\n",
	}, {
		name: "a byte order mark and CRLF line ends",
		in:   "\xef\xbb\xbf\r\n{\r\n\"kind\":\"Job\",\r\n\"apiVersion\":\"batch/v1\"}\r\n",
		want: "f:2 batch/v1/Job {\r\n\"kind\":\"Job\",\r\n\"apiVersion\":\"batch/v1\"}\n",
	}, {
		name: "objects line by line",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n\n{\"apiVersion\":\"v1\",\"kind\":\"C\"}",
		want: `
f:1 v1/A {"apiVersion":"v1","kind":"A"}
f:2 v1/B {"apiVersion":"v1","kind":"B"}
f:4 v1/C {"apiVersion":"v1","kind":"C"}
`,
	}, {
		name: "objects one behind the other on a line",
		in:   `{"apiVersion":"v1","kind":"A"}{"apiVersion":"v1","kind":"B"}`,
		want: `
f:1 v1/A {"apiVersion":"v1","kind":"A"}
f:1 v1/B {"apiVersion":"v1","kind":"B"}
`,
	}, {
		name: "an array at the top level",
		in:   "[{\"apiVersion\":\"v1\",\"kind\":\"A\"},\n {\"apiVersion\":\"v1\",\"kind\":\"B\"}]",
		want: `
f:1 v1/A {"apiVersion":"v1","kind":"A"}
f:2 v1/B {"apiVersion":"v1","kind":"B"}
`,
	}, {
		name: "documents between --- lines, the last ones YAML",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n---\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n--- # here\napiVersion: v1\nkind: C\n",
		want: `
f:1 v1/A {"apiVersion":"v1","kind":"A"}
f:3 v1/B {"apiVersion":"v1","kind":"B"}
f:5 v1/C {"apiVersion":"v1","kind":"C"}
`,
	}, {
		name: "an unwanted kind, and what is no Kubernetes object",
		in:   `{"apiVersion":"v1","kind":"Secret"} {"replicaCount":3} {} {"apiVersion":"v2","name":"chart"}`,
	}, {
		name: "half a type",
		in:   "{\"kind\":\"Job\",\"metadata\":{}}\n{\"apiVersion\":\"v1\",\"kind\":7,\"metadata\":{}}",
		want: `
problem f:1: an object of kind "Job" has no apiVersion
problem f:2: an object with apiVersion "v1" has no kind
`,
	}, {
		name: "the last of two equal keys counts, and keys may be escaped",
		in:   `{"kind":"A","apiVersion":"v1","k\u0069nd":"B"}`,
		want: "f:1 v1/B {\"kind\":\"A\",\"apiVersion\":\"v1\",\"k\\u0069nd\":\"B\"}\n",
	}, {
		name: "a kind deep inside is not the object's",
		in:   `{"spec":{"kind":"Inner","apiVersion":"x"},"apiVersion":"v1","kind":"A"}`,
		want: "f:1 v1/A {\"spec\":{\"kind\":\"Inner\",\"apiVersion\":\"x\"},\"apiVersion\":\"v1\",\"kind\":\"A\"}\n",
	}})
}

func TestJSONLists(t *testing.T) {
	runReadCases(t, []readCase{{
		name: "kubectl prints the kind of a List behind its items",
		in:   "{\n\"apiVersion\": \"v1\",\n\"items\": [\n  {\"apiVersion\":\"v1\",\"kind\":\"A\"},\n  {\"apiVersion\":\"v1\",\"kind\":\"Secret\"},\n  {\"kind\":\"B\",\"apiVersion\":\"v1\"}\n],\n\"kind\": \"List\",\n\"metadata\": {\"resourceVersion\": \"\"}\n}\n",
		want: `
f:4 v1/A {"apiVersion":"v1","kind":"A"}
f:6 v1/B {"kind":"B","apiVersion":"v1"}
`,
	}, {
		name: "kubectl get --raw gives a typed list whose items tell no type",
		in:   "{\"kind\":\"JobList\",\"apiVersion\":\"batch/v1\",\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"a\"}},\n{ }]}",
		want: `
f:1 batch/v1/Job {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"}}
f:2 batch/v1/Job {"apiVersion":"batch/v1","kind":"Job" }
listed batch/v1/Job
`,
	}, {
		name: "the same, sorted by key: the items wait for the list's kind",
		in:   "{\"apiVersion\":\"batch/v1\",\"items\":[\n{\"metadata\":{\"name\":\"a\"}}],\"kind\":\"JobList\"}",
		want: `
f:2 batch/v1/Job {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"}}
listed batch/v1/Job
`,
	}, {
		name: "an item that tells half its type",
		in:   `{"apiVersion":"batch/v1","kind":"JobList","items":[{"kind":"Job"}]}`,
		want: `
f:1 batch/v1/Job {"apiVersion":"batch/v1","kind":"Job"}
listed batch/v1/Job
`,
	}, {
		name: "an unwanted typed list",
		in:   `{"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{}}]}`,
		want: "listed v1/Secret\n",
	}, {
		name: "empty lists",
		in:   `{"apiVersion":"batch/v1","kind":"JobList","items":[]} {"apiVersion":"v1","kind":"PodList","items":null} {"apiVersion":"v1","items":[],"kind":"NodeList"} {"apiVersion":"v1","kind":"List","items":[]} {"kind":"List","apiVersion":"v1"}`,
		want: "listed batch/v1/Job\nlisted v1/Pod\nlisted v1/Node\n",
	}, {
		name: "the first page of a list is not the whole list, wherever its metadata stands",
		in:   `{"apiVersion":"v1","kind":"PodList","metadata":{"continue":"x"},"items":[]} {"apiVersion":"v1","items":[],"kind":"PodList","metadata":{"continue":"x"}}`,
	}, {
		name: "lists in lists",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"A\"}]},\n{\"items\":[{\"metadata\":{}}],\"kind\":\"PodList\",\"apiVersion\":\"v1\"},\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}]}",
		want: `
f:2 v1/A {"apiVersion":"v1","kind":"A"}
f:3 v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{}}
listed v1/Pod
f:4 v1/B {"apiVersion":"v1","kind":"B"}
`,
	}, {
		name: "an object that has items and is no list",
		in:   `{"apiVersion":"v1","kind":"Menu","items":[{"apiVersion":"v1","kind":"A"}]}`,
		want: "f:1 v1/Menu {\"apiVersion\":\"v1\",\"kind\":\"Menu\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"A\"}]}\n",
	}, {
		name: "the same, when its kind comes too late to tell",
		in:   `{"apiVersion":"v1","items":[{"key":"x"}],"kind":"Menu"}`,
		want: "problem f:1: Menu has an items array and cannot be told from a list\n",
	}, {
		name: "an object whose kind merely ends like a list's",
		in:   `{"apiVersion":"v1","kind":"AllowList","spec":{}}`,
		want: "f:1 v1/AllowList {\"apiVersion\":\"v1\",\"kind\":\"AllowList\",\"spec\":{}}\n",
	}, {
		name: "items that tell no type in a List are no Kubernetes objects",
		in:   `{"apiVersion":"v1","kind":"List","items":[{"a":1},{"kind":"A","metadata":{}}]}`,
		want: "problem f:1: an object of kind \"A\" has no apiVersion\n",
	}, {
		name: "items that are not objects make a list incomplete",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[null,\n[1],{\"metadata\":{}}]}",
		want: `
problem f:1: not an object: nothing to read here
problem f:2: not an object: nothing to read here
f:2 v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{}}
`,
	}})
}

func TestBrokenJSON(t *testing.T) {
	const a, b = `{"apiVersion":"v1","kind":"A"}`, `{"apiVersion":"v1","kind":"B"}`
	wantA, wantB := "v1/A "+a+"\n", "v1/B "+b+"\n"
	runReadCases(t, []readCase{{
		name: "a broken line among lines",
		in:   a + "\n{\"apiVersion\":\"v1\",\"kind\":}\n" + b,
		want: "f:1 " + wantA + "problem f:2: invalid JSON: expected a value, found '}'; the object at line 2 is not read\nf:3 " + wantB,
	}, {
		name: "a string without its closing quote",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"Job}\n" + b,
		want: "problem f:1: invalid JSON: a string has no closing quote on its line; the object at line 1 is not read\nf:2 " + wantB,
	}, {
		name: "an object without its closing brace",
		in:   "{\"apiVersion\":\"v1\",\"spec\":{\"a\":1}\n" + b + "\n" + a,
		want: "problem f:2: invalid JSON: expected ',' or '}', found '{'; the object at line 1 is not read\nf:2 " + wantB + "f:3 " + wantA,
	}, {
		name: "a broken item of a printed list, and the items behind it",
		in: `{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "spec": {
                "a": 01
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Pod" "metadata": {}
        },
        {"apiVersion":"v1","kind":"A"}
    ],
    "kind": "PodList"
}
`,
		want: `
problem f:8: invalid JSON: expected a value, found "01"; lines 4 to 10 are not read
problem f:13: invalid JSON: expected ',' or '}', found '"'; lines 11 to 14 are not read
f:15 v1/A {"apiVersion":"v1","kind":"A"}
`,
	}, {
		name: "the last item of a printed list lacks a brace",
		in:   "{\n  \"apiVersion\": \"v1\",\n  \"items\": [\n    " + a + ",\n    {\n      \"spec\": {\n        \"a\": 1\n    }\n  ],\n  \"kind\": \"List\"\n}\n" + b,
		want: "f:4 " + wantA + "problem f:9: invalid JSON: expected ',' or '}', found ']'; lines 5 to 8 are not read\nf:12 " + wantB,
	}, {
		name: "a broken item of a list on one line",
		in:   `{"apiVersion":"v1","kind":"List","items":[{"x":[1,]},` + a + `,{"x":tru},` + b + `]}`,
		want: "problem f:1: invalid JSON: expected a value, found ']'; the object at line 1 is not read\nf:1 " + wantA +
			"problem f:1: invalid JSON: expected a value, found \"tru\"; the object at line 1 is not read\nf:1 " + wantB,
	}, {
		name: "where nothing tells the next item, the rest is given up and said so",
		in:   `{"apiVersion":"v1","kind":"List","items":[` + a + `,{"x":[1},` + b + `]}`,
		want: "f:1 " + wantA + "problem f:1: invalid JSON: expected ',' or ']', found '}'; nothing after this line of the file is read\n",
	}, {
		name: "a comma too few, a comma too many",
		in:   `[` + a + b + `,]`,
		want: "f:1 " + wantA + "problem f:1: invalid JSON: a comma is missing between two objects of a list\nf:1 " + wantB + "problem f:1: invalid JSON: a comma at the end of a list\n",
	}, {
		name: "a file that was cut off in an object",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[\n" + a + ",\n{\"metadata\":\n",
		want: "f:2 " + wantA + "problem f:4: the input ends in the middle of the object that begins at line 3\n",
	}, {
		name: "a file that was cut off between objects",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[\n" + a + ",\n",
		want: "f:2 " + wantA + "problem f:3: the input ends in the middle of a list: the objects after this place are missing\n",
	}, {
		name: "words between objects",
		in:   a + "\nError from server\n" + b + "\n",
		want: "f:1 " + wantA + "problem f:2: invalid JSON: expected a value, found \"Error\"; the object at line 2 is not read\nf:3 " + wantB,
	}, {
		name: "the rest of a list is broken behind its items",
		in:   "{\"items\":[{\"metadata\":{}}],\"apiVersion\":\"v1\",\"kind\":\"PodList\",,}\n" + a,
		want: "f:1 v1/Pod {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{}}\n" +
			"problem f:1: invalid JSON: expected a quoted key, found ','; the object at line 1 is not read\nf:2 " + wantA,
	}, {
		name: "bytes that are no text",
		in:   "{\"apiVersion\":\"v1\",\"kind\":\"A\",\n\"x\":\"\xff\"}\n{\"apiVersion\":\"v1\",\"kind\":\"A\",\"x\":\x00}\n{\"apiVersion\":\"v1\",\"kind\":\"A\",\"x\":\"\x00\"}\n" + b,
		want: `
problem f:2: A is not valid UTF-8 and is not read
problem f:3: invalid JSON: expected a value, found "\x00"; the object at line 3 is not read
problem f:4: invalid JSON: a string holds a NUL byte, which must be escaped; the object at line 4 is not read
f:5 ` + wantB,
	}, {
		name: "escapes that do not exist",
		in:   "{\"x\":\"\\q\"}\n{\"x\":\"\\u12g4\"}\n" + a,
		want: `
problem f:1: invalid JSON: a string holds the unknown escape \q; the object at line 1 is not read
problem f:2: invalid JSON: \u needs four hexadecimal digits; the object at line 2 is not read
f:3 ` + wantA,
	}, {
		name: "nesting without end",
		in:   `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}\n" + a,
		want: "problem f:1: nested deeper than 10000 levels; the object at line 1 is not read\nf:2 " + wantA,
	}, {
		name: "files in another form",
		in:   "\xff\xfea\x00",
		want: "problem f: the file is UTF-16, as PowerShell's > writes it: save it as UTF-8\n",
	}})
}

// Objects are the same however the input arrives in pieces.
func TestJSONInPieces(t *testing.T) {
	text := `{"apiVersion":"v1","items":[{"metadata":{"name":"a\"b\\","n":-1.5e+3}},` + "\n" + `  {"x":[true,false,null,"\u00e9"]}],"kind":"PodList"}` +
		"\n" + `{"kind":"A","apiVersion":"v1"}`
	want := readText(t, text).String()
	for _, piece := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		r := &recorder{}
		in := &input{name: "f", out: &emitter{ctx: context.Background(), sink: r}, places: &placeCache{}}
		in.read(piece(strings.NewReader(text)))
		if diff := cmp.Diff(want, r.String()); diff != "" {
			t.Errorf("in pieces (-want +got):\n%s", diff)
		}
		for _, d := range r.docs {
			if _, ok := d.Origin.Field("metadata"); !ok {
				t.Errorf("%s: no position", d.JSON)
			}
		}
	}
}

// A window of a few hundred KiB is enough for a list of any size.
func TestJSONIsStreamed(t *testing.T) {
	const n = 40000
	item := []byte(`{"apiVersion":"v1","kind":"Secret","data":{"a":"` + strings.Repeat("x", 1000) + `"}},` + "\n")
	src := io.MultiReader(strings.NewReader("{\"items\":[\n"), &repeated{item: item, n: n}, strings.NewReader(`{"apiVersion":"v1","kind":"A"}],"kind":"List"}`))
	r := &recorder{unwanted: map[string]bool{"Secret": true}}
	w := newWindow(src, 1)
	in := &input{name: "f", out: &emitter{ctx: context.Background(), sink: r}}
	(&jsonReader{w: w, out: in.out, place: in}).read()
	if diff := cmp.Diff("f:40002 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\n", r.String()); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if cap(w.buf) > 2*windowSize {
		t.Errorf("the window grew to %d bytes", cap(w.buf))
	}
}

func TestTooLargeObject(t *testing.T) {
	big := func(head, tail string) io.Reader {
		return io.MultiReader(strings.NewReader(head), &repeated{item: bytes.Repeat([]byte("x"), 1<<20), n: 65}, strings.NewReader(tail))
	}
	src := io.MultiReader(strings.NewReader("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n"),
		big(`{"apiVersion":"v1","kind":"Secret","x":"`, "\"},\n"), big(`{"x":"`, "\",\"apiVersion\":\"v1\",\"kind\":\"B\"},\n"),
		strings.NewReader(`{"apiVersion":"v1","kind":"A"}]}`))
	r := &recorder{unwanted: map[string]bool{"Secret": true}}
	in := &input{name: "f", out: &emitter{ctx: context.Background(), sink: r}, places: &placeCache{}}
	in.read(src)
	want := "problem f:3: B is larger than 64 MiB and is not read\nf:4 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\n"
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// A file of nothing but garbage is given up soon.
func TestTooManyProblems(t *testing.T) {
	r := readText(t, "{}\n"+strings.Repeat("{\"x\":}\n", 5000))
	if len(r.lines) != maxProblems+1 {
		t.Errorf("%d problems, want %d and a last word", len(r.lines), maxProblems)
	}
	if want := "problem f:101: too many problems: the rest of the file is not read"; r.lines[len(r.lines)-1] != want {
		t.Errorf("last problem %q, want %q", r.lines[len(r.lines)-1], want)
	}
}

// repeated gives an item n times.
type repeated struct {
	item []byte
	n    int
	rest []byte
}

func (r *repeated) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.item
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// What `kubectl cluster-info dump` prints are lists, and between them the logs of containers, which may hold anything.
func TestLogsBetweenListsAreSkipped(t *testing.T) {
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}` + "\n"
	logs := func(text string) string {
		return "==== START logs for container c of pod a/p ====\n" + text + "==== END logs for container c of pod a/p ====\n"
	}
	cut := list + logs("x\ny\nz\n")[:51] // in the first line of the logs
	cases := map[string]struct{ text, want string }{
		"of words":                  {list + logs("a: b\n[1] =====\n{\n\t==== END\n") + list, "listed v1/Pod\nlisted v1/Pod\n"},
		"of objects":                {list + logs(`{"apiVersion":"v1","kind":"A"}`+"\n") + list, "listed v1/Pod\nlisted v1/Pod\n"},
		"none":                      {list + logs("") + logs("") + list, "listed v1/Pod\nlisted v1/Pod\n"},
		"without a last line break": {list + logs("no end") + list, "listed v1/Pod\nlisted v1/Pod\n"},
		"long ones":                 {list + logs(strings.Repeat("= x\n", windowSize)) + list, "listed v1/Pod\nlisted v1/Pod\n"},
		"cut": {cut, "listed v1/Pod\nproblem f:4: the input ends in the middle of the logs of a container: what should follow is missing\n" +
			"broke off: f: the input ends in the middle of the logs of a container\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := &parts{}
			if err := ReadBytes(context.Background(), "f", []byte(c.text), r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.String()); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}
