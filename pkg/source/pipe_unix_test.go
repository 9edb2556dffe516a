//go:build unix

package source

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe, like the shell's <(…), cannot be read twice.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	const text = `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`
	go func() { _ = os.WriteFile(path, []byte(text), 0o600) }()
	r := &recorder{}
	if err := Read(context.Background(), Options{Filenames: []string{path}}, r); err != nil {
		t.Fatal(err)
	}
	for _, d := range r.docs {
		checkFields(t, text, d.Origin, []fieldCase{{"metadata.name", 1, `"a"`}})
	}
	if len(r.docs) != 1 {
		t.Errorf("%d documents, want 1", len(r.docs))
	}
}
