package rules_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// fixedRules are the rules whose findings can be put right by the program.
var fixedRules = []string{"GQ115", "GQ202", "GQ207", "GQ208", "GQ216", "GQ501", "GQ502"}

// fixed applies the safe fixes of a fixture until there are none, and returns what became of the files, and what is left.
func fixed(t *testing.T, path string, texts map[string][]byte) (*lint.Result, int) {
	t.Helper()
	count := 0
	for range 10 {
		result, _ := lintedAs(t, path, texts)
		changed, applied := lint.ApplyFixes(result.Findings, func(file string) ([]byte, bool) {
			if text, ok := texts[file]; ok {
				return text, true
			}
			text, err := os.ReadFile(file)
			return text, err == nil
		})
		if count += applied; applied == 0 {
			return result, count
		}
		for file, text := range changed {
			texts[file] = text
		}
	}
	t.Fatal("there is no end to the fixes")
	return nil, 0
}

// TestFixedFixturesAreClean applies every safe fix of the bad fixtures. What is left has none, no line is lost in a file whose
// lines end otherwise, and a second time nothing changes.
func TestFixedFixturesAreClean(t *testing.T) {
	for _, id := range fixedRules {
		files, err := filepath.Glob(filepath.Join("testdata", strings.ToLower(id), "bad*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no bad fixtures of %s: %v", id, err)
		}
		fixedOnce := false
		for _, path := range files {
			t.Run(id+"/"+filepath.Base(path), func(t *testing.T) {
				before, _ := linted(t, path)
				texts := map[string][]byte{}
				after, count := fixed(t, path, texts)
				fixedOnce = fixedOnce || slices.ContainsFunc(before.Findings, func(f lint.Finding) bool { return f.Rule.ID == id && f.Fix != nil && f.Fix.Safe })
				for _, f := range after.Findings {
					if f.Rule.ID == "GQ001" && !strings.HasSuffix(path, "unreadable.yaml") {
						t.Errorf("unreadable after the fixes: %s", shown(t, f))
					}
				}
				checkKept(t, texts)
				if count > 0 && len(after.Findings) >= len(before.Findings) && id != "GQ216" {
					t.Errorf("%d fixes, but %d findings became %d", count, len(before.Findings), len(after.Findings))
				}
				checkWindows(t, path, texts)
			})
		}
		if !fixedOnce {
			t.Errorf("no fixture shows a fix of %s", id)
		}
	}
}

// checkKept holds fixes to the comments of a file: each is there afterwards, in the same order.
func checkKept(t *testing.T, texts map[string][]byte) {
	t.Helper()
	for file, text := range texts {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(comments(before), comments(text)); diff != "" {
			t.Errorf("the comments of %s changed (-before +after):\n%s", file, diff)
		}
	}
}

func comments(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if _, comment, ok := strings.Cut(" "+strings.TrimSpace(line), " # "); ok {
			out = append(out, comment)
		}
	}
	return out
}

// checkWindows fixes the same files with other line ends, which stay.
func checkWindows(t *testing.T, path string, fixedTexts map[string][]byte) {
	t.Helper()
	texts := map[string][]byte{}
	for file := range fixedTexts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if len(texts) == 0 {
		return
	}
	fixed(t, path, texts)
	for file, text := range texts {
		want := strings.ReplaceAll(string(fixedTexts[file]), "\n", "\r\n")
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Errorf("%s with other line ends is fixed otherwise (-want +got):\n%s", file, diff)
		}
	}
}
