package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// parts is a recorder that also notes which part of the cluster is read.
type parts struct{ recorder }

func (p *parts) Scope(s Scope) {
	if s != (Scope{}) {
		p.note("scope %+v", s)
	}
}

func (p *parts) BrokeOff(reason string) { p.note("broke off: %s", reason) }

// tarOf packs files, given by name and text in turn. A text "-> x" is a symbolic link, "=> x" a hard one.
func tarOf(t testing.TB, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(files[i+1]))}
		text := files[i+1]
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			h.Typeflag, h.Linkname, h.Size, text = tar.TypeSymlink, to, 0, ""
		} else if to, ok := strings.CutPrefix(text, "=> "); ok {
			h.Typeflag, h.Linkname, h.Size, text = tar.TypeLink, to, 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipOf(t testing.TB, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Deflate}
		text := files[i+1]
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			h.SetMode(os.ModeSymlink | 0o777)
			text = to
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// compressed compresses with one of the writers.
func compressed(t testing.TB, content []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := open(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gz(w io.Writer) (io.WriteCloser, error)   { return gzip.NewWriterLevel(w, gzip.BestCompression) }
func xzip(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }
func zst(w io.Writer) (io.WriteCloser, error)  { return zstd.NewWriter(w) }

// bz is `bzip2` of one object, in base64: the standard library only reads it.
const bz = "QlpoOTFBWSZTWQ1aHuEAABNfgAAQQAUgECAAAQAnL9kqIAAxQADQMmQVPU2k9E9EaaM8qHiCwRmpp/MPdAVuuvjGgsjlIgKwB/F3JFOFCQDVoe4Q"

func objectText(from string) string { return "{apiVersion: v1, kind: A, from: " + from + "}\n" }

// readPacked reads a file of the given content and notes what was found, without the objects' text.
func readPacked(t testing.TB, name string, content []byte) string {
	t.Helper()
	return readWithin(t, usualLimits, name, content)
}

func readWithin(t testing.TB, within limits, name string, content []byte) string {
	t.Helper()
	r := &parts{}
	newUnpacker(within, &emitter{ctx: context.Background(), sink: r}, &placeCache{}).unpack(name, bytes.NewReader(content), nil)
	var b strings.Builder
	for _, l := range r.lines {
		if place, _, ok := strings.Cut(l, " v1/A"); ok {
			l = place
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

func TestArchives(t *testing.T) {
	one := tarOf(t, "dump/a.yaml", objectText("a"), "dump/b.json", `{"apiVersion":"v1","kind":"A"}`, "dump/pod.log", "kind: A", "dump/Makefile", "x")
	bzip2ed, err := base64.StdEncoding.DecodeString(bz)
	if err != nil {
		t.Fatal(err)
	}
	const want = "x/dump/a.yaml:1\nx/dump/b.json:1\n"
	cases := map[string]struct {
		content []byte
		want    string
	}{
		"tar":      {one, want},
		"tar.gz":   {compressed(t, one, gz), want},
		"tar.xz":   {compressed(t, one, xzip), want},
		"tar.zst":  {compressed(t, one, zst), want},
		"zip":      {zipOf(t, "dump/a.yaml", objectText("a"), "dump/b.json", `{"apiVersion":"v1","kind":"A"}`, "dump/pod.log", "kind: A"), want},
		"one file": {compressed(t, []byte("\n"+objectText("a")), gz), "x:2\n"},
		"bzip2":    {bzip2ed, "x:1\n"},
		"in an archive: archives, compressed files": {
			tarOf(t, "in/a.tar.gz", string(compressed(t, one, gz)), "b.yaml.zst", string(compressed(t, []byte(objectText("b")), zst)), "c.ZIP", string(zipOf(t, "c.yml", objectText("c"))), "d.log.gz", "no gzip"),
			"x/in/a.tar.gz/dump/a.yaml:1\nx/in/a.tar.gz/dump/b.json:1\nx/b.yaml.zst:1\nx/c.ZIP/c.yml:1\n",
		},
		"three deep": {
			tarOf(t, "a.tar", string(tarOf(t, "b.tar", string(one))), "c.yaml", objectText("c")),
			"problem x/a.tar/b.tar: cannot be unpacked: archives are read 2 deep: unpack the outer one\nbroke off: x/a.tar/b.tar: cannot be unpacked: archives are read 2 deep: unpack the outer one\nx/c.yaml:1\n",
		},
		"compressed twice": {
			compressed(t, compressed(t, one, gz), xzip),
			"problem x: cannot be unpacked: it is compressed twice: unpack it once\nbroke off: x: cannot be unpacked: it is compressed twice: unpack it once\n",
		},
		"without objects": {tarOf(t, "pod.log", "x"), "problem x: no .yaml, .yml, .json, .jsonl or .ndjson file in this archive\n"},
		"an empty zip":    {zipOf(t), "problem x: no .yaml, .yml, .json, .jsonl or .ndjson file in this archive\n"},
		"files of Mac OS": {tarOf(t, "a.yaml", objectText("a"), "._a.yaml", "\x00\x05\x16\x07", "__MACOSX/b.yaml", "\x00"), "x/a.yaml:1\n"},
		"a must-gather": {
			tarOf(t, "m/version", "x", "m/img/namespaces/team-a/batch/jobs.yaml", objectText("a"), "m/img/cluster-scoped-resources/k/queues/q.yaml", objectText("b")),
			"scope {Gathered:true Part:false Namespace:team-a}\nx/m/img/namespaces/team-a/batch/jobs.yaml:1\nscope {Gathered:true Part:false Namespace:}\nx/m/img/cluster-scoped-resources/k/queues/q.yaml:1\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readPacked(t, "x", c.content)); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostileArchives(t *testing.T) {
	one := tarOf(t, "a.yaml", objectText("a"), "b.yaml", objectText("b"))
	gzipped := compressed(t, one, gz)
	damaged := bytes.Clone(gzipped)
	damaged[len(damaged)-6] ^= 1 // of the checksum
	brokeOff := "problem x: the archive breaks off: what should follow is missing\nbroke off: x: the archive breaks off: what should follow is missing\n"
	encrypted := zipOf(t, "a.yaml", objectText("a"), "b.yaml", objectText("b"))
	for at := range encrypted { // the first local header and its twin in the directory
		if i := bytes.Index(encrypted[at:], []byte("PK\x01\x02")); i >= 0 {
			encrypted[at+i+8] |= 1
			break
		}
	}
	cases := map[string]struct {
		content []byte
		want    string
	}{
		"names that lead out": {
			tarOf(t, "../../etc/a.yaml", objectText("a"), "d/../../b.yaml", objectText("b"), `..\c.yaml`, objectText("c"), "/d.yaml", objectText("d"), "d/../e.yaml", objectText("e")),
			"problem x/etc/a.yaml: its name leads out of the archive: it is not read\nproblem x/b.yaml: its name leads out of the archive: it is not read\nproblem x/..\\c.yaml: its name leads out of the archive: it is not read\nx/d.yaml:1\nx/e.yaml:1\n",
		},
		"links are not followed": {
			tarOf(t, "real/a.yaml", objectText("a"), "d/in.yaml", "-> ../real/a.yaml", "d/same.yaml", "=> real/a.yaml", "d/out.yaml", "-> ../../b.yaml", "d/root.yaml", "-> /etc/passwd", "loop.yaml", "-> loop.yaml", "dir", "-> /"),
			"x/real/a.yaml:1\nproblem x/d/out.yaml: it is a link out of the archive: it is not followed\nproblem x/d/root.yaml: it is a link out of the archive: it is not followed\n",
		},
		"a link in a zip": {zipOf(t, "a.yaml", "-> /etc/passwd", "b.yaml", objectText("b")), "x/b.yaml:1\n"},
		"a name that writes to the terminal": {
			tarOf(t, "\x1b[31mred\xff\u202e.yaml", "a: b: c\n"),
			"problem x/�[31mred��.yaml:1: not valid YAML: mapping values are not allowed in this context\n",
		},
		"a tar cut in a member":    {one[:1536+10], "x/a.yaml:1\nproblem x/b.yaml: cannot read on: unexpected EOF\n" + brokeOff},
		"a truncated tar":          {one[:1024+20], "x/a.yaml:1\n" + brokeOff},
		"a tar cut behind a file":  {one[:1024], "x/a.yaml:1\n" + brokeOff},
		"a truncated gzip":         {gzipped[:len(gzipped)-12], "x/a.yaml:1\nx/b.yaml:1\n" + brokeOff},
		"a gzip without its end":   {gzipped[:len(gzipped)-4], "x/a.yaml:1\nx/b.yaml:1\n" + brokeOff},
		"a wrong checksum":         {damaged, "x/a.yaml:1\nx/b.yaml:1\nproblem x: cannot be unpacked: gzip: invalid checksum\nbroke off: x: cannot be unpacked: gzip: invalid checksum\n"},
		"a gzip of one file, cut":  {compressed(t, []byte(`{"apiVersion":"v1","kind":"A"}{"apiVersion":"v1"}`), gz)[:40], "problem x:1: cannot read on: unexpected EOF\nbroke off: x: cannot read on: unexpected EOF\n" + brokeOff},
		"nothing behind the magic": {[]byte("\x1f\x8b"), "problem x: the archive breaks off: what should follow is missing\nbroke off: x: the archive breaks off: what should follow is missing\n"},
		"a truncated zip":          {zipOf(t, "a.yaml", objectText("a"))[:40], "problem x: cannot be unpacked: zip: not a valid zip file\nbroke off: x: cannot be unpacked: zip: not a valid zip file\n"},
		"an encrypted member":      {encrypted, "problem x/a.yaml: it is encrypted\nbroke off: x/a.yaml: it is encrypted\nx/b.yaml:1\n"},
		"invalid UTF-8":            {tarOf(t, "a.json", "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"x\":\"\xff\"}", "b.yaml", objectText("b")), "problem x/a.json:1: A is not valid UTF-8 and is not read\nx/b.yaml:1\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := readPacked(t, "x", c.content)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

// counter counts.
type counter struct {
	documents int
	problems  []Problem
}

func (c *counter) Want(string, string) bool       { return true }
func (c *counter) Document(Document)              { c.documents++ }
func (c *counter) Listed(string, string)          {}
func (c *counter) Missing(string, string, string) {}
func (c *counter) Problem(p Problem)              { c.problems = append(c.problems, p) }

func TestManyBrokenFiles(t *testing.T) {
	var files []string
	for range 3000 {
		files = append(files, "a.yaml", "a: b: c\n")
	}
	r := &counter{}
	in := &input{name: "x", out: &emitter{ctx: context.Background(), sink: r}, places: &placeCache{}}
	in.readAny(bytes.NewReader(tarOf(t, files...)), nil)
	if n := len(r.problems); n != maxPackedProblems+1 || r.problems[n-1].String() != "x: 2000 more problems are not told" {
		t.Errorf("%d problems, the last is %v", n, r.problems[n-1])
	}
}

func TestCancelledWhileUnpacking(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &stopping{cancel: cancel}
	in := &input{name: "x", out: &emitter{ctx: ctx, sink: r}, places: &placeCache{}}
	in.readAny(bytes.NewReader(tarOf(t, "a.yaml", objectText("a"), "b.yaml", objectText("b"))), nil)
	if r.documents != 1 || len(r.problems) > 0 {
		t.Errorf("%d documents, problems %v, want what was read before and nothing else", r.documents, r.problems)
	}
}

// stopping cancels at the first object.
type stopping struct {
	counter
	cancel func()
}

func (s *stopping) Document(d Document) { s.counter.Document(d); s.cancel() }
func (s *stopping) BrokeOff(string)     { panic("a cancelled input is not broken") }
func (s *stopping) Scope(Scope)         {}

// Whatever an archive holds, reading it ends, and what it gives are objects.
func FuzzUnpack(f *testing.F) {
	one := tarOf(f, "a.yaml", objectText("a"), "b.json", `{"apiVersion":"v1","kind":"A"}`, "l.yaml", "-> a.yaml")
	for _, open := range []func(io.Writer) (io.WriteCloser, error){gz, xzip, zst} {
		f.Add(compressed(f, one, open))
		f.Add(compressed(f, one, open)[:60])
		f.Add(tarOf(f, "a.tar.gz", string(compressed(f, one, open))))
	}
	f.Add(one)
	f.Add(one[:700])
	f.Add(zipOf(f, "a.yaml", objectText("a"), "../b.yaml", objectText("b")))
	f.Add(tarOf(f, "a.zip", string(zipOf(f, "a.yaml", objectText("a")))))
	if content, err := base64.StdEncoding.DecodeString(bz); err == nil {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		r := &parts{}
		out := &emitter{ctx: context.Background(), sink: r}
		newUnpacker(limits{freely: 8 << 20, ratio: 800, members: 100, files: 100}, out, &placeCache{}).unpack("x", bytes.NewReader(content), nil)
		for _, d := range r.docs {
			if !json.Valid(d.JSON) || d.Origin.Line < 1 || strings.ContainsAny(d.Origin.File, "\x00\x1b\n") || strings.Contains(d.Origin.File, "../") {
				t.Errorf("%q is no document of %q", d.JSON, d.Origin.File)
			}
			d.Origin.Field("kind")
		}
	})
}
