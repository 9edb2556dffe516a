package source

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestYAML(t *testing.T) {
	runReadCases(t, []readCase{{
		name: "several documents",
		in:   "# a comment\n---\n---\napiVersion: v1\nkind: A\n---\n# only a comment\n---\n\napiVersion: v1\nkind: B\n...\n# after the end\n",
		want: "f:4 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\nf:10 v1/B {\"apiVersion\":\"v1\",\"kind\":\"B\"}\n",
	}, {
		name: "a byte order mark, CRLF line ends, and a directive",
		in:   "\xef\xbb\xbf%YAML 1.1\r\n---\r\napiVersion: v1\r\nkind: A\r\n---\r\napiVersion: v1\r\nkind: B\r\n",
		want: "f:3 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\nf:6 v1/B {\"apiVersion\":\"v1\",\"kind\":\"B\"}\n",
	}, {
		name: "flow style and JSON as documents",
		in:   "{apiVersion: v1, kind: A}\n---\n{\"apiVersion\": \"v1\", \"kind\": \"B\"}\n--- {apiVersion: v1, kind: C}\n---\n{\"apiVersion\": \"v1\", kind: D}\n",
		want: "f:1 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\nf:3 v1/B {\"apiVersion\": \"v1\", \"kind\": \"B\"}\n" +
			"f:4 v1/C {\"apiVersion\":\"v1\",\"kind\":\"C\"}\nf:6 v1/D {\"apiVersion\":\"v1\",\"kind\":\"D\"}\n",
	}, {
		name: "unwanted kinds are not even parsed; what is no Kubernetes object is of no interest",
		in:   "apiVersion: v1\nkind: Secret\ndata: {{{\n---\nreplicaCount: 3\n---\n- a\n- b\n---\njust text\n---\nkind: Kustomization\nresources: [a]\n---\n",
	}, {
		name: "half a type",
		in:   "kind: Job\nmetadata: {name: a}\n---\n\napiVersion: v1\nmetadata: {name: a}\n",
		want: "problem f:1: an object of kind \"Job\" has no apiVersion\nproblem f:5: an object with apiVersion \"v1\" has no kind\n",
	}, {
		name: "duplicate keys are read as kubectl reads them: the last one counts",
		in:   "apiVersion: v1\nkind: A\nkind: B\n",
		want: "f:1 v1/B {\"apiVersion\":\"v1\",\"kind\":\"B\"}\n",
	}, {
		name: "anchors, aliases and merges",
		in:   "apiVersion: v1\nkind: A\na: &x {p: 1}\nb: *x\nc: {<<: *x, q: 2}\n",
		want: "f:1 v1/A {\"a\":{\"p\":1},\"apiVersion\":\"v1\",\"b\":{\"p\":1},\"c\":{\"p\":1,\"q\":2},\"kind\":\"A\"}\n",
	}, {
		name: "a string that looks like a document",
		in:   "apiVersion: v1\nkind: A\ntext: |\n  ---\n  kind: Secret\n\n  ...\n",
		want: "f:1 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\",\"text\":\"---\\nkind: Secret\\n\\n...\\n\"}\n",
	}})
}

func TestYAMLLists(t *testing.T) {
	runReadCases(t, []readCase{{
		name: "a List as kubectl prints it",
		in:   "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: A\n  text: |\n    - x\n\n    - y\n- apiVersion: v1\n  kind: Secret\n  data: {{{\n# a comment\n-   kind: B\n    apiVersion: v1\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
		want: "f:3 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\",\"text\":\"- x\\n\\n- y\\n\"}\nf:13 v1/B {\"apiVersion\":\"v1\",\"kind\":\"B\"}\n",
	}, {
		name: "an indented typed list whose items tell no type",
		in:   "kind: JobList\napiVersion: batch/v1\nitems:\n  - metadata:\n      name: a\n  -\n    metadata: {name: b}\n  - null\n",
		want: "f:4 batch/v1/Job {\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"a\"}}\n" +
			"f:6 batch/v1/Job {\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"b\"}}\nlisted batch/v1/Job\n",
	}, {
		name: "empty lists",
		in:   "apiVersion: batch/v1\nitems: []\nkind: JobList\n---\napiVersion: v1\nkind: PodList\nitems:\n---\napiVersion: v1\nkind: NodeList\nmetadata: {continue: x}\nitems: []\n",
		want: "listed batch/v1/Job\nlisted v1/Pod\n",
	}, {
		name: "a list whose items share an anchor is parsed as a whole",
		in:   "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  x: &x 1\n- apiVersion: v1\n  kind: B\n  x: *x\n",
		want: "f:4 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\",\"x\":1}\nf:7 v1/B {\"apiVersion\":\"v1\",\"kind\":\"B\",\"x\":1}\n",
	}, {
		name: "a list in flow style, with lists in it",
		in:   "{apiVersion: v1, kind: List, items: [\n  {apiVersion: v1, kind: A},\n  {kind: List, apiVersion: v1, items: [\n    {apiVersion: v1, kind: B}]}]}\n",
		want: "f:2 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\nf:4 v1/B {\"apiVersion\":\"v1\",\"kind\":\"B\"}\n",
	}, {
		name: "a list in a list, in block style",
		in:   "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: PodList\n  items:\n  - metadata: {name: a}\n- apiVersion: v1\n  kind: A\n",
		want: "f:7 v1/Pod {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\nlisted v1/Pod\nf:8 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\n",
	}, {
		name: "a broken item makes a typed list incomplete, and the others are read",
		in:   "apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\n   bad: x\n- metadata:\n    name: b\n",
		want: "problem f:6: not valid YAML: did not find expected key\nf:7 v1/Pod {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}\n",
	}, {
		name: "the list itself is broken behind its items",
		in:   "apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\nmetadata:\n  x: y: z\n---\napiVersion: v1\nkind: A\n",
		want: "problem f:7: not valid YAML: mapping values are not allowed in this context; the list is not read\nf:9 v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\n",
	}})
}

func TestBrokenYAML(t *testing.T) {
	const a, wantA = "---\napiVersion: v1\nkind: A\n", "v1/A {\"apiVersion\":\"v1\",\"kind\":\"A\"}\n"
	runReadCases(t, []readCase{{
		name: "an error on the first line of a document",
		in:   a + "---\na: b: c\n" + a,
		want: "f:2 " + wantA + "problem f:5: not valid YAML: mapping values are not allowed in this context\nf:7 " + wantA,
	}, {
		name: "a wrong indentation far below the start of its mapping",
		in:   a + "---\nspec:\n  a: 1\n  b: 2\n c: 3\nd: 4\n",
		want: "f:2 " + wantA + "problem f:8: not valid YAML: did not find expected key\n",
	}, {
		name: "a tab",
		in:   "spec:\n  a: 1\n\tb: 2\n",
		want: "problem f:3: not valid YAML: found a tab character that violates indentation\n",
	}, {
		name: "a quote without an end",
		in:   "a: 1\nb: \"x\nc: d\n" + a,
		want: "problem f:2: not valid YAML: found unexpected end of stream\nf:5 " + wantA,
	}, {
		name: "an unknown anchor",
		in:   "a: 1\nb: *x\n",
		want: "problem f:2: not valid YAML: unknown anchor 'x' referenced\n",
	}, {
		name: "a Helm template",
		in:   "apiVersion: v1\nkind: A\nmetadata:\n  name: {{ .Values.name }}\n" + a,
		want: "problem f:4: a map key is not a string; a Helm template must be rendered first (helm template)\nf:6 " + wantA,
	}, {
		name: "bytes that are no text",
		in:   "apiVersion: v1\nkind: A\nx: \xff\n---\napiVersion: v1\nkind: A\nx: \x00\n" + a,
		want: "problem f:3: not valid YAML: invalid leading UTF-8 octet\nproblem f:7: not valid YAML: control characters are not allowed\nf:9 " + wantA,
	}, {
		name: "an anchor that contains itself",
		in:   "a: &x [*x]\n" + a,
		want: "problem f:1: not valid YAML: anchor 'x' value contains itself\nf:3 " + wantA,
	}})
}

// Documents made to exhaust the memory end in a problem.
func TestYAMLBombs(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	longString := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 5000) + "]\n"
	deep := "a0: &a0 1\n"
	for i := 1; i < 10; i++ {
		deep += fmt.Sprintf("a%d: &a%d %s*a%d %s\n", i, i, strings.Repeat("[", 2000), i-1, strings.Repeat("]", 2000))
	}
	cases := []struct{ name, in, want string }{
		{"depth by aliases", deep, "problem f:1: nested deeper than 10000 levels"},
		{"a billion laughs", laughs, "problem f:1: the aliases of the document stand for more than 64 MiB of text"},
		{"one long string many times", longString, "problem f:1: the aliases of the document stand for more than 64 MiB of text"},
		{"deep flow nesting", "a: " + strings.Repeat("[", 1<<20), "problem f:1: not valid YAML: exceeded max depth of 10000"},
		{"deep block nesting", strings.Repeat("- ", 1<<20), "problem f:1: not valid YAML: exceeded max depth of 10000"},
		{"100 MB on one line", "a: " + strings.Repeat("x", 100<<20), "problem f:1: YAML of more than 64 MiB in one object is not read"},
		{"60 MB of tiny values", "a: [" + strings.Repeat("1,", 30<<20) + "1]", "problem f:1: YAML with more than 2097152 values in one object is not read"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			begun := time.Now()
			r := readText(t, c.in+"\n---\napiVersion: v1\nkind: A\n")
			if diff := cmp.Diff(c.want, r.lines[0]); diff != "" {
				t.Errorf("problem (-want +got):\n%s", diff)
			}
			if len(r.docs) != 1 {
				t.Errorf("%d documents, want the one behind the bomb", len(r.docs))
			}
			t.Log(time.Since(begun))
		})
	}
}

// readYAMLWith reads text in batches of a size, or, with apart, one part after another.
func readYAMLWith(text string, batch int, apart bool) []string {
	s := &logSink{}
	in := &input{name: "f", backing: heldBytes(text), out: &emitter{ctx: context.Background(), sink: s, apart: apart, batch: batch}, places: &placeCache{}}
	in.read(strings.NewReader(text))
	return s.log
}

// TestConvertingTogetherChangesNothing compares what a sink is told when parts of a file are converted at the same time with what
// it is told when they are converted one after another.
func TestConvertingTogetherChangesNothing(t *testing.T) {
	item := func(i int, spec string) string {
		return fmt.Sprintf("- apiVersion: v1\n  kind: A\n  metadata: {name: n%d}\n  spec: %s\n", i, spec)
	}
	list := func(n int, spec func(int) string) string {
		var b strings.Builder
		b.WriteString("apiVersion: v1\nkind: AList\nitems:\n")
		for i := range n {
			b.WriteString(item(i, spec(i)))
		}
		return b.String()
	}
	good := func(int) string { return "x" }
	broken := func(every int) func(int) string {
		return func(i int) string {
			if i%every == 0 {
				return "a: b: c"
			}
			return "[x, 'y']"
		}
	}
	stream := strings.Repeat("apiVersion: v1\nkind: B\nspec: {y: n}\n---\n{\"apiVersion\": \"v1\", \"kind\": \"C\"}\n---\nkind: Secret\napiVersion: v1\n---\n", 50)
	cases := map[string]string{
		"a list": list(300, good), "a list with a broken item": list(300, broken(299)), "too many broken items": list(500, broken(2)),
		"documents": stream, "documents and lists": stream + list(200, good) + "---\n" + stream, "broken documents": strings.Repeat("a: b: c\n---\n", 300),
		"a list inside a list": "kind: List\napiVersion: v1\nitems:\n" + strings.Repeat("- kind: AList\n  apiVersion: v1\n  items:\n  - metadata: {name: a}\n", 100),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			want := readYAMLWith(text, 0, true)
			if len(want) < 50 {
				t.Fatalf("only %d things to tell: %q", len(want), want)
			}
			for _, batch := range []int{1, 100, 1000, 1 << 20} {
				if diff := cmp.Diff(want, readYAMLWith(text, batch, false)); diff != "" {
					t.Errorf("in batches of %d the sink is told otherwise (-one after another +together):\n%.2000s", batch, diff)
				}
			}
		})
	}
}

func TestConvertingTogetherEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stopping{cancel: cancel}
	text := strings.Repeat("apiVersion: v1\nkind: A\n---\n", 1000)
	in := &input{name: "f", backing: heldBytes(text), out: &emitter{ctx: ctx, sink: s, batch: 10}, places: &placeCache{}}
	in.read(strings.NewReader(text))
	if s.documents != 1 || len(s.problems) > 0 {
		t.Errorf("%d documents, problems %v, want what was read before and nothing else", s.documents, s.problems)
	}
}
