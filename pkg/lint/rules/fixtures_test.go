package rules_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint/rules"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// directives of a fixture are comments at its top.
var directive = regexp.MustCompile(`(?m)^# (with|kueue|kubernetes): (.+)$`)

// linted is the result for one file, together with the files of testdata/with that it names.
func linted(t *testing.T, path string) (*lint.Result, *cluster.Snapshot) {
	t.Helper()
	return lintedAs(t, path, nil)
}

// lintedAs is linted with texts that stand for files.
func lintedAs(t *testing.T, path string, texts map[string][]byte) (*lint.Result, *cluster.Snapshot) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names, kueue, kubernetes := []string{path}, config.Options{}, lint.KubernetesVersion{}
	for _, m := range directive.FindAllStringSubmatch(string(text), -1) {
		switch m[1] {
		case "with":
			for _, name := range strings.Fields(m[2]) {
				names = append(names, filepath.Join("testdata", "with", name+".yaml"))
			}
		case "kueue":
			kueue.Version = m[2]
		case "kubernetes":
			if kubernetes, err = lint.ParseKubernetes(m[2]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return lintedTexts(t, source.Options{Filenames: names, Texts: texts}, kueue, kubernetes)
}

func lintedFiles(t *testing.T, names []string, kueue config.Options, kubernetes lint.KubernetesVersion) (*lint.Result, *cluster.Snapshot) {
	t.Helper()
	return lintedTexts(t, source.Options{Filenames: names}, kueue, kubernetes)
}

func lintedTexts(t *testing.T, files source.Options, kueue config.Options, kubernetes lint.KubernetesVersion) (*lint.Result, *cluster.Snapshot) {
	t.Helper()
	b := cluster.NewBuilder(nil)
	collect := lint.NewCollector(b.Sink(cluster.InputOptions{Laid: true, Whole: true}))
	err := source.Read(context.Background(), files, collect)
	snap := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	conf, err := config.Resolve(snap, kueue)
	if err != nil {
		t.Fatal(err)
	}
	in := lint.Input{Snapshot: snap, Config: conf, Documents: collect.Documents, Files: collect.Files(), Kubernetes: kubernetes, Suppressions: collect.Suppressions}
	result, err := lint.Run(context.Background(), in, lint.Options{Rules: rules.All()})
	if err != nil {
		t.Fatal(err)
	}
	return result, snap
}

// want is a finding that a fixture expects.
type want struct {
	rule    string
	line    int
	message *regexp.Regexp
	// text is what the range must cover; `…` at its end stands for the rest.
	text string
	seen bool
}

var (
	wantComment = regexp.MustCompile(`# want(\+\d+)? (.*)$`)
	wantPart    = regexp.MustCompile(`(GQ\d{3}) ("(?:[^"\\]|\\.)*") on ("(?:[^"\\]|\\.)*")`)
)

func wantsOf(t *testing.T, path string) []*want {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []*want
	for n, line := range strings.Split(string(text), "\n") {
		m := wantComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		below, _ := strconv.Atoi(m[1])
		parts := wantPart.FindAllStringSubmatch(m[2], -1)
		if len(parts) == 0 {
			t.Fatalf("%s:%d: a want comment without `GQnnn \"message\" on \"text\"`", path, n+1)
		}
		for _, part := range parts {
			message, err1 := strconv.Unquote(part[2])
			covered, err2 := strconv.Unquote(part[3])
			pattern, err3 := regexp.Compile(message)
			if err1 != nil || err2 != nil || err3 != nil {
				t.Fatalf("%s:%d: %v %v %v", path, n+1, err1, err2, err3)
			}
			out = append(out, &want{rule: part[1], line: n + 1 + below, message: pattern, text: covered})
		}
	}
	return out
}

// covered is the text of a file between the ends of a location, with its white space as single blanks.
func covered(t *testing.T, l lint.Location) string {
	t.Helper()
	text, err := os.ReadFile(l.File)
	if err != nil {
		t.Fatal(err)
	}
	offset := func(line, column int) int {
		lines := bytes.SplitAfter(text, []byte("\n"))
		at := column - 1
		for i := range min(line-1, len(lines)) {
			at += len(lines[i])
		}
		return at
	}
	start, end := offset(l.Line, l.Column), offset(l.EndLine, l.EndColumn)
	if start < 0 || end > len(text) || start > end {
		t.Fatalf("%s: range %+v is not in the file", l, l.Position)
	}
	return strings.Join(strings.Fields(string(text[start:end])), " ")
}

func (w *want) matches(t *testing.T, f lint.Finding) bool {
	if f.Rule.ID != w.rule || f.At.Line != w.line || !w.message.MatchString(f.Message) {
		return false
	}
	got := ""
	if f.At.Column > 0 {
		got = covered(t, f.At)
	}
	if start, open := strings.CutSuffix(w.text, "…"); open {
		return strings.HasPrefix(got, start)
	}
	return got == w.text
}

// TestFixtures holds every rule to its fixtures: a bad one has exactly the findings of the rule that its comments want, on
// that line and on that text; a good one has none of the rule, and no error of any.
func TestFixtures(t *testing.T) {
	for _, r := range rules.All() {
		if r == lint.RuleFailed {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			dir := filepath.Join("testdata", strings.ToLower(r.ID))
			for _, kind := range []string{"bad", "good"} {
				files, err := filepath.Glob(filepath.Join(dir, kind+"*"))
				if err != nil || len(files) == 0 {
					t.Errorf("rule %s has no %s fixture: add one to %s", r.ID, kind, dir)
				}
				for _, path := range files {
					t.Run(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), func(t *testing.T) {
						checkFixture(t, r, path, kind == "good")
					})
				}
			}
		})
	}
}

func checkFixture(t *testing.T, r *lint.Rule, path string, good bool) {
	result, _ := linted(t, path)
	wants := wantsOf(t, path)
	if !good && len(wants) == 0 {
		t.Error("a bad fixture wants no finding")
	}
	for _, f := range result.Findings {
		known := false
		for _, w := range wants {
			if !w.seen && w.matches(t, f) {
				w.seen, known = true, true
				break
			}
		}
		here := f.At.File == path
		if !known && here && (f.Rule == r || good && f.Severity == lint.Error) || f.Rule == lint.RuleFailed || !here && f.Rule.ID == "GQ001" {
			t.Errorf("not wanted: %s", shown(t, f))
		}
	}
	for _, w := range wants {
		if !w.seen {
			t.Errorf("%s:%d: no finding %s %q on %q", path, w.line, w.rule, w.message, w.text)
			for _, f := range result.Findings {
				if f.Rule.ID == w.rule {
					t.Logf("  there is: %s", shown(t, f))
				}
			}
		}
	}
}

func shown(t *testing.T, f lint.Finding) string {
	text := ""
	if f.At.Column > 0 {
		text = covered(t, f.At)
	}
	return fmt.Sprintf("%s: %s[%s] %q on %q (%s %s)", f.At, f.Severity, f.Rule.ID, f.Message, text, f.At.Object, f.At.Path)
}

// TestFixtureDirectoriesHaveRules finds fixtures that no rule is held to.
func TestFixtureDirectoriesHaveRules(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := strings.ToUpper(e.Name()); strings.HasPrefix(name, "GQ") && lint.Find(rules.All(), name) == nil {
			t.Errorf("testdata/%s belongs to no rule", e.Name())
		}
	}
}
