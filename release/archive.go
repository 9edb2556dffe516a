package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is one file of an archive.
type file struct {
	name       string
	content    []byte
	executable bool
}

func (f file) mode() os.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// pack writes the archive of a platform.
func (r *release) pack(p platform, files []file) error {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	packed, err := r.tarGz(files)
	if strings.HasSuffix(p.archive(), ".zip") {
		packed, err = r.zip(files)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, p.archive()), packed, 0o644)
}

func (r *release) tarGz(files []file) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode()),
			Size: int64(len(f.content)), ModTime: r.time}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return closed(&out, z.Close)
}

func (r *release) zip(files []file) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode())
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return closed(&out, z.Close)
}

func closed(out *bytes.Buffer, finish func() error) ([]byte, error) {
	err := finish()
	return out.Bytes(), err
}

// checksums is the file that sha256sum --check reads.
const checksums = "checksums.txt"

func (r *release) writeChecksums(names []string) error {
	var out strings.Builder
	for _, name := range slices.Sorted(slices.Values(names)) {
		sum, err := r.checksum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(r.out, checksums), []byte(out.String()), 0o644)
}

func (r *release) checksum(name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(content)), nil
}
