package source

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inTree makes a directory with files, each with an object named by the file, and goes there.
func inTree(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, f := range files {
		write(t, f, "{apiVersion: v1, kind: A, from: '"+f+"'}\n")
	}
}

func readFiles(t *testing.T, opts Options) string {
	t.Helper()
	r := &recorder{}
	if err := Read(context.Background(), opts, r); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range r.lines {
		if place, _, ok := strings.Cut(l, " v1/A"); ok {
			l = place
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

func TestFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege there")
	}
	const none = "no .yaml, .yml, .json, .jsonl or .ndjson file in this directory"
	cases := []struct {
		name      string
		files     []string
		recursive bool
		want      string
	}{
		{"files in the order given, each once", []string{"d/b.yaml", "d/a.yaml", "./d/b.yaml", "d"}, false, "d/b.yaml:1\nd/a.yaml:1\nd/c.JSON:1\n"},
		{"a directory, by name and extension", []string{"d"}, false, "d/a.yaml:1\nd/b.yaml:1\nd/c.JSON:1\n"},
		{"a directory with all below it", []string{"d"}, true, "d/a.yaml:1\nd/b.yaml:1\nd/c.JSON:1\nd/sub/x.ndjson:1\n"},
		{"a file of any name", []string{"d/notes.txt"}, false, "d/notes.txt:1\n"},
		{"a glob of files and directories", []string{"d/*"}, false, "d/a.yaml:1\nd/b.yaml:1\nd/c.JSON:1\nd/notes.txt:1\nd/sub/x.ndjson:1\n"},
		{"a name that looks like a glob", []string{"[x].yaml"}, false, "[x].yaml:1\n"},
		{"what is not there", []string{"nowhere.yaml", "d/a.yaml", "no*"}, false, "problem nowhere.yaml: no such file or directory\nproblem no*: no such file, and no file matches it as a pattern\nd/a.yaml:1\n"},
		{"nothing in a directory", []string{"empty"}, false, "problem empty: " + none + "; -R reads those below it, too\n"},
		{"nothing in a tree", []string{"empty"}, true, "problem empty: " + none + " or below\n"},
		{"a loop of links ends", []string{"loop"}, true, "loop/y.yaml:1\n"},
		{"a link to a file is the file", []string{"links", "d/a.yaml"}, false, "links/a.yaml:1\nproblem links/broken.yaml: no such file or directory\n"},
	}
	inTree(t, "d/b.yaml", "d/a.yaml", "d/c.JSON", "d/notes.txt", "d/sub/x.ndjson", "[x].yaml", "loop/y.yaml", "empty/deep/notes.txt", "links/z.txt")
	for link, to := range map[string]string{"loop/again": "../loop", "links/a.yaml": "../d/a.yaml", "links/broken.yaml": "gone.yaml", "links/gone": "gone"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readFiles(t, Options{Filenames: c.files, Recursive: c.recursive})); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStdin(t *testing.T) {
	text := "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n---\napiVersion: v1\nkind: A\n"
	r := &recorder{}
	opts := Options{Filenames: []string{"-", "-"}, Stdin: strings.NewReader(text), FirstSeq: 7}
	if err := Read(context.Background(), opts, r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ seq, line int }{{7, 1}, {8, 4}} {
		p, ok := r.docs[i].Origin.Field("kind")
		if r.docs[i].Seq != want.seq || !ok || p.Line != want.line {
			t.Errorf("document %d: seq %d, kind at %v, want seq %d, line %d", i, r.docs[i].Seq, p, want.seq, want.line)
		}
	}
	if len(r.docs) != 2 {
		t.Errorf("%d documents, want 2: standard input is read once", len(r.docs))
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is on fire") }

func TestReadErrors(t *testing.T) {
	r := &recorder{}
	for _, start := range []string{"", "a: b\n", "{\"a\":", "[{}"} {
		opts := Options{Filenames: []string{"-"}, Stdin: io.MultiReader(strings.NewReader(start), failing{})}
		if err := Read(context.Background(), opts, r); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Repeat("problem -: cannot read on: the disk is on fire\n", 2) + strings.Repeat("problem -:1: cannot read on: the disk is on fire\n", 2)
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r = &recorder{}
	if err := Read(ctx, Options{Filenames: []string{"-"}, Stdin: strings.NewReader("{}")}, r); !errors.Is(err, context.Canceled) || len(r.lines) > 0 {
		t.Errorf("cancelled: %v, %s", err, r)
	}
}
