//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	job     = "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {template: {spec: {containers: [{name: c}]}}}}\n"
	jobJSON = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","namespace":"team-a"},"spec":`
)

// member is a file of an archive, or a link if it leads to something.
type member struct{ name, content, link string }

func tarGz(t *testing.T, members func(add func(member))) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	members(func(m member) {
		h := &tar.Header{Name: m.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(m.content))}
		if m.link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, m.link, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	})
	for _, close := range []func() error{w.Close, z.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// spaces is a file of a few hundred kilobytes that unpacks to as many spaces.
func spaces(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte{' '}, 1<<20)
	for range size >> 20 {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hostile are inputs made to break a reader. Of each the program must say what is wrong, use the rest, and take no more time and
// memory than a few times what an honest input of that size takes.
var hostile = []struct {
	name, file string
	content    func(*testing.T) []byte
	// says is what standard error must match, exit how it ends; finds tells that the job beside it is charged all the same.
	says  string
	exit  int
	finds bool
}{
	{"names and links that lead out", "a.tar.gz", func(t *testing.T) []byte {
		return tarGz(t, func(add func(member)) {
			add(member{name: "../../../tmp/evil.yaml", content: job})
			add(member{name: "d/passwd.yaml", link: "/etc/passwd"})
			add(member{name: "d/up.yaml", link: "../../up.yaml"})
			add(member{name: "job.yaml", content: job})
		})
	}, `(?s)^a.tar.gz/tmp/evil.yaml: its name leads out of the archive: it is not read\na.tar.gz/d/passwd.yaml: it is a link out of the archive.*a.tar.gz/d/up.yaml: it is a link out`, 2, true},
	{"a bomb", "a.json.zst", func(t *testing.T) []byte { return spaces(t, 4<<30+64<<20) },
		`^a.json.zst: cannot read on: it unpacks to far more than its size`, 2, false},
	{"very many files", "a.tar.gz", func(t *testing.T) []byte {
		return tarGz(t, func(add func(member)) {
			for i := range 201_000 {
				add(member{name: fmt.Sprintf("%d.yaml", i)})
			}
		})
	}, `^a.tar.gz: cannot be unpacked: it has more than 200000 files with objects; join those of a kind to lists, or unpack it\n`, 2, false},
	{"a truncated archive", "a.tar.gz", func(t *testing.T) []byte {
		whole := tarGz(t, func(add func(member)) { add(member{name: "job.yaml", content: job}) })
		return whole[:len(whole)-10]
	}, `^a.tar.gz: the archive breaks off: what should follow is missing\n`, 2, true},
	{"invalid UTF-8", "a.yaml", func(*testing.T) []byte {
		return []byte("---\n" + job + "---\n" + strings.Replace(job, "train", "tr\xffin", 1))
	},
		`^a.yaml:4: not valid YAML: invalid`, 2, true},
	{"lines of 10 MB", "a.yaml", func(*testing.T) []byte {
		return []byte(job + "---\napiVersion: v1\nkind: Secret\ndata: {a: " + strings.Repeat("y", 10<<20) + "}\n---\n" + strings.Replace(job, "train, ", "b, annotations: {a: "+strings.Repeat("y", 10<<20)+"}, ", 1))
	}, `^$`, 0, true},
	{"deep JSON", "a.json", func(*testing.T) []byte {
		return []byte(jobJSON + strings.Repeat("[", 5<<20) + strings.Repeat("]", 5<<20) + "}\n" + jobJSON + "{}}\n")
	}, `^a.json:1: nested deeper than 10000 levels; the object at line 1 is not read\n`, 2, true},
	{"deep YAML", "a.yaml", func(*testing.T) []byte {
		return []byte(job + "---\napiVersion: v1\nkind: Pod\nmetadata: " + strings.Repeat("[", 1<<20) + "\n")
	}, `^a.yaml:.*(max depth|nested deeper)`, 2, true},
	{"lists in lists", "a.json", func(*testing.T) []byte {
		return []byte(strings.Repeat(`{"kind":"List","apiVersion":"v1","items":[`, 100_000))
	},
		`^a.json:1: `, 2, false},
	{"aliases that grow", "a.yaml", func(*testing.T) []byte {
		text := job + "---\napiVersion: v1\nkind: Pod\na0: &a0 [x,x,x,x,x,x,x,x,x]\n"
		for i := 1; i < 12; i++ {
			text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
		}
		return []byte(text)
	}, `^a.yaml:3: the aliases of the document stand for more than 64 MiB of text\n`, 2, true},
	{"keys that stand twice: the last counts, as for kubectl", "a.json", func(*testing.T) []byte {
		return []byte(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"metadata":{"name":"train","namespace":"team-a"},"spec":{},"spec":{}}`)
	}, `^$`, 0, true},
}

func TestHostileInputs(t *testing.T) {
	const most, longest = 600 << 20, 90 * time.Second
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t, "charge", "-A", "--from", c.file)
			file := filepath.Join(p.dir, c.file)
			if err := os.WriteFile(file, c.content(t), 0o644); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			_ = p.Run() // how it ends is looked at below
			if took := time.Since(begun); took > longest {
				t.Errorf("it takes %v", took)
			}
			if used, ok := p.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" && used.Maxrss<<10 > most {
				t.Errorf("it takes %d MiB", used.Maxrss>>10)
			}
			if got := p.ProcessState.ExitCode(); got != c.exit {
				t.Errorf("exit code %d, want %d", got, c.exit)
			}
			if got := p.stderr.String(); !regexp.MustCompile(c.says).MatchString(got) || len(got) > 4000 {
				t.Errorf("it says %.500q, want %q", got, c.says)
			}
			if finds := strings.Contains(p.stdout.String(), "job/train"); finds != c.finds {
				t.Errorf("the job is charged: %v, want %v:\n%s", finds, c.finds, &p.stdout)
			}
			if left := p.left(t); len(left) != 1 || left[0] != file {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}
