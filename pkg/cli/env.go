package cli

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

// Env is everything the commands take from the process they run in.
type Env struct {
	genericiooptions.IOStreams
	// Now is the clock ages are counted from.
	Now func() time.Time
	// Getenv reads the environment.
	Getenv func(string) string
	// TerminalWidth tells the width of a terminal; ok is false when w is none.
	TerminalWidth func(w io.Writer) (columns int, ok bool)
	// Reads is told how many bytes an export has that is about to be read, as far as its files tell. It may be nil.
	Reads func(bytes int64)
}

// ProcessEnv is the environment of this process.
func ProcessEnv() Env {
	return Env{
		IOStreams:     genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Now:           time.Now,
		Getenv:        os.Getenv,
		TerminalWidth: terminalWidth,
	}
}

func terminalWidth(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, true
	}
	return columns, true
}

// colorModes are the values of --color.
var colorModes = []string{"auto", "always", "never"}

// terminal describes standard output. What is written to a pipe or a file never depends on the locale.
func (e Env) terminal(color string) report.Terminal {
	columns, isTerminal := e.TerminalWidth(e.Out)
	t := report.Terminal{Width: columns}
	switch color {
	case "always":
		t.Color = true
	case "auto":
		t.Color = isTerminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
	}
	t.ASCII = isTerminal && !utf8Locale(e.Getenv)
	return t
}

// utf8Locale tells whether the locale can show more than ASCII. No locale at all counts as UTF-8, which
// terminals have been for long.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}
