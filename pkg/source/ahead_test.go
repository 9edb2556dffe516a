package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// logSink writes down everything that it is told, in order.
type logSink struct{ log []string }

func (s *logSink) add(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *logSink) Want(_, kind string) bool { return kind != "Secret" }
func (s *logSink) Document(d Document)      { s.add("%d %s %s %s", d.Seq, d.Kind, d.Origin, d.JSON) }
func (s *logSink) Listed(v, kind string)    { s.add("listed %s %s", v, kind) }
func (s *logSink) Missing(g, kind, r string) {
	s.add("missing %s %s %s", g, kind, r)
}
func (s *logSink) Problem(p Problem) { s.add("problem %s", p) }
func (s *logSink) Text(file string, line int, text []byte) {
	s.add("text %s:%d %d bytes", file, line, len(text))
}
func (s *logSink) Scope(x Scope)          { s.add("scope %+v", x) }
func (s *logSink) BrokeOff(reason string) { s.add("broke off: %s", reason) }

// TestReadingAheadChangesNothing compares what a sink is told of many files, small and large, broken and of a part of a cluster,
// with what it is told when they are read one after another.
func TestReadingAheadChangesNothing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		write(fmt.Sprintf("a/%03d.yaml", i), fmt.Sprintf("# %d\napiVersion: v1\nkind: Namespace\nmetadata: {name: n%d}\n---\napiVersion: v1\nkind: Secret\n", i, i))
	}
	write("b/broken.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a\n---\napiVersion: v1\nkind: Namespace\n")
	write("b/list.json", `{"apiVersion":"batch/v1","kind":"JobList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`)
	write("c/large.yaml", "# "+strings.Repeat("x", aheadSize)+"\napiVersion: v1\nkind: Namespace\nmetadata: {name: large}\n")
	write("d/namespaces/team-a/batch/jobs.yaml", "apiVersion: batch/v1\nkind: JobList\nitems:\n- metadata: {name: a}\n")
	write("d/"+PartsDirectory+"/batch/jobs.json", `{"apiVersion":"batch/v1","kind":"JobList","items":[]}`)
	write("e/packed.yaml.gz", "\x1f\x8b\x08\x00broken")

	opts := Options{Filenames: []string{filepath.Join(dir, "e", "packed.yaml.gz"), dir, filepath.Join(dir, "nothing")}, Recursive: true, FirstSeq: 7}
	want := &logSink{}
	out := &emitter{ctx: context.Background(), sink: want, seq: opts.FirstSeq}
	for _, name := range findFiles(opts, out) {
		readNamed(name, opts, out, &placeCache{})
	}
	got := &logSink{}
	if err := Read(context.Background(), opts, got); err != nil {
		t.Fatal(err)
	}
	if len(want.log) < 400 {
		t.Fatalf("only %d things to tell", len(want.log))
	}
	if diff := cmp.Diff(want.log, got.log); diff != "" {
		t.Errorf("read ahead, the sink is told otherwise (-one after another +ahead):\n%.3000s", diff)
	}
}
