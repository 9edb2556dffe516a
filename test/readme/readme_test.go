package readme_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/test/program"
	"github.com/gpu-quota/kubectl-gpu-quota/test/readme"
)

var update = flag.Bool("update", false, "write the program's outputs into the documentation")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(program.Main(m))
}

// documents are the Markdown files for users.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md", "plugins/*.md"} {
		found, err := filepath.Glob(filepath.Join(program.Root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOutputsShownAreTheProgramsOwn(t *testing.T) {
	shown := 0
	for _, path := range documents(t) {
		markdown := read(t, path)
		got := readme.Rewrite(markdown, func(e readme.Example) string {
			shown++
			return run(t, fmt.Sprintf("%s:%d", filepath.Base(path), e.Line), e.Command)
		})
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(markdown, got); diff != "" {
			t.Errorf("%s (-shown +program); make update writes it:\n%s", filepath.Base(path), diff)
		}
	}
	if shown == 0 {
		t.Error("the documentation shows no example")
	}
}

// run runs one example at the root of the source tree and returns what a person would see of it.
func run(t *testing.T, where, command string) string {
	t.Helper()
	words, err := readme.Words(command)
	if err != nil {
		t.Fatalf("%s: %s: %v; show it in a block of another kind", where, command, err)
	}
	if len(words) < 2 || words[0] != "kubectl" || words[1] != "gpu-quota" {
		t.Fatalf("%s: %q is not a command of this program; show it in a block of another kind", where, command)
	}
	cmd := exec.Command(program.Path(t), words[2:]...)
	cmd.Dir = program.Root(t)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=100", "KUBECONFIG="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %s: %v\n%s", where, command, err, out)
	}
	return string(out)
}

func TestTargetsNamedExist(t *testing.T) {
	makefile := read(t, filepath.Join(program.Root(t), "Makefile"))
	named := regexp.MustCompile("(?m)(?:`|^    |^\\$ )make ([a-z0-9-]+)")
	for _, path := range documents(t) {
		for _, match := range named.FindAllStringSubmatch(read(t, path), -1) {
			if !strings.Contains(makefile, "\n"+match[1]+":") {
				t.Errorf("%s names `make %s`, which the Makefile does not have", filepath.Base(path), match[1])
			}
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, path := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, path), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), match[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", filepath.Base(path), match[1])
			}
		}
	}
}

func TestExamples(t *testing.T) {
	const markdown = "Text.\n```console\n$ one -a\nfirst\n\nsecond\n$ two\n```\n```sh\n$ not this\n```\n"
	want := []readme.Example{
		{Line: 3, Command: "one -a", Output: "first\n\nsecond\n"},
		{Line: 7, Command: "two"},
	}
	if diff := cmp.Diff(want, readme.Examples(markdown)); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
	got := readme.Rewrite(markdown, func(e readme.Example) string { return strings.ToUpper(e.Command) + "\n" })
	if diff := cmp.Diff("Text.\n```console\n$ one -a\nONE -A\n$ two\nTWO\n```\n```sh\n$ not this\n```\n", got); diff != "" {
		t.Errorf("rewritten (-want +got):\n%s", diff)
	}
}

func TestWords(t *testing.T) {
	got, err := readme.Words(`charge  -o jsonpath='{.a[*]} "x"' ''`)
	if diff := cmp.Diff([]string{"charge", "-o", `jsonpath={.a[*]} "x"`, ""}, got); diff != "" || err != nil {
		t.Errorf("error %v, words (-want +got):\n%s", err, diff)
	}
	for _, command := range []string{"charge | less", "charge 'x", "charge $HOME", "charge *.yaml"} {
		if words, err := readme.Words(command); err == nil {
			t.Errorf("%s is split into %q, want an error", command, words)
		}
	}
}
