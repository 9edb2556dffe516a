package layering_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is the width of lines of code.
const mostColumns = 120

// TestLinesAreAtMost120Columns looks at the code of every module, tests aside: their tables hold whole manifests. A raw
// string can't be broken: a pattern, a struct tag, or a text that Kueue writes.
func TestLinesAreAtMost120Columns(t *testing.T) {
	files := 0
	for _, dir := range []string{"cmd", "demo", "pkg", "release", "test"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			return tooWide(t, path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 500 {
		t.Errorf("only %d files were looked at", files)
	}
}

func tooWide(t *testing.T, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if width := utf8.RuneCountInString(text); width > mostColumns && !strings.Contains(text, "`") {
			t.Errorf("%s:%d has %d columns", filepath.ToSlash(path), n, width)
		}
	}
	return lines.Err()
}
