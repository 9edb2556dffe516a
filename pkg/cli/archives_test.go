package cli

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// archives are the ways to pack a tree of files into one, by the name of the archive.
var archives = map[string]func(t *testing.T, root string) []byte{
	"dump.tar":     tarred,
	"dump.tar.gz":  func(t *testing.T, root string) []byte { return squeezed(t, tarred(t, root), gzipped) },
	"dump.tar.xz":  func(t *testing.T, root string) []byte { return squeezed(t, tarred(t, root), xzipped) },
	"dump.tar.zst": func(t *testing.T, root string) []byte { return squeezed(t, tarred(t, root), zstandard) },
	"dump.zip":     zipped,
	// A support case holds what was attached to it.
	"case.tar.gz": func(t *testing.T, root string) []byte {
		return squeezed(t, tarOf(t, "case/attachments/dump.tar.xz", squeezed(t, tarred(t, root), xzipped)), gzipped)
	},
	"case.zip": func(t *testing.T, root string) []byte {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		f, err := w.Create("case/dump.tar.gz")
		check(t, err)
		_, err = f.Write(squeezed(t, tarred(t, root), gzipped))
		check(t, err)
		check(t, w.Close())
		return out.Bytes()
	},
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tarred is a tar archive of a directory, as tar makes it: directories are members, too.
func tarred(t *testing.T, root string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	check(t, w.AddFS(os.DirFS(root)))
	check(t, w.Close())
	return out.Bytes()
}

func zipped(t *testing.T, root string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	check(t, w.AddFS(os.DirFS(root)))
	check(t, w.Close())
	return out.Bytes()
}

// tarOf is a tar archive of one file.
func tarOf(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	check(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
	_, err := w.Write(content)
	check(t, err)
	check(t, w.Close())
	return out.Bytes()
}

func gzipped(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
func xzipped(w io.Writer) (io.WriteCloser, error) {
	return xz.WriterConfig{DictCap: 1 << 16}.NewWriter(w)
}
func zstandard(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }

func squeezed(t *testing.T, content []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := open(&out)
	check(t, err)
	_, err = w.Write(content)
	check(t, err)
	check(t, w.Close())
	return out.Bytes()
}

func writeTree(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, content, 0o644))
	}
}
