package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

func TestTheScreenFollowsTheTerminalAndTheUser(t *testing.T) {
	cases := map[string]struct {
		isTerminal bool
		columns    int
		color      string
		env        map[string]string
		want       report.Terminal
	}{
		"a terminal":                             {isTerminal: true, columns: 132, color: "auto", want: report.Terminal{Width: 132, Color: true}},
		"a pipe":                                 {color: "auto", want: report.Terminal{}},
		"a pipe, colour asked for":               {color: "always", want: report.Terminal{Color: true}},
		"a terminal, colour turned off":          {isTerminal: true, columns: 80, color: "never", want: report.Terminal{Width: 80}},
		"NO_COLOR":                               {isTerminal: true, columns: 80, color: "auto", env: map[string]string{"NO_COLOR": "1"}, want: report.Terminal{Width: 80}},
		"an empty NO_COLOR says nothing":         {isTerminal: true, columns: 80, color: "auto", env: map[string]string{"NO_COLOR": ""}, want: report.Terminal{Width: 80, Color: true}},
		"the flag wins over NO_COLOR":            {color: "always", env: map[string]string{"NO_COLOR": "1"}, want: report.Terminal{Color: true}},
		"a dumb terminal":                        {isTerminal: true, columns: 80, color: "auto", env: map[string]string{"TERM": "dumb"}, want: report.Terminal{Width: 80}},
		"a locale without UTF-8":                 {isTerminal: true, columns: 80, color: "never", env: map[string]string{"LANG": "C"}, want: report.Terminal{Width: 80, ASCII: true}},
		"LC_ALL wins over LANG":                  {isTerminal: true, columns: 80, color: "never", env: map[string]string{"LANG": "C", "LC_ALL": "en_US.UTF-8"}, want: report.Terminal{Width: 80}},
		"a pipe does not depend on the locale":   {color: "auto", env: map[string]string{"LANG": "C"}, want: report.Terminal{}},
		"a terminal that does not tell its size": {isTerminal: true, color: "never", want: report.Terminal{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env := Env{
				Getenv:        func(key string) string { return tc.env[key] },
				TerminalWidth: func(io.Writer) (int, bool) { return tc.columns, tc.isTerminal },
			}
			if got := env.terminal(tc.color); got != tc.want {
				t.Errorf("terminal %+v, want %+v", got, tc.want)
			}
		})
	}
}

// What goes wrong is told once, as the error of the command; what libraries log beside it would come after it, or between.
func TestNothingThatLibrariesLogReachesTheUser(t *testing.T) {
	var logged bytes.Buffer
	klog.ClearLogger() // an earlier test may have run the program
	klog.LogToStderr(false)
	klog.SetOutput(&logged)
	t.Cleanup(func() { klog.ClearLogger(); klog.LogToStderr(true) })
	klog.Info("before")
	if klog.Flush(); !strings.Contains(logged.String(), "before") {
		t.Fatal("klog's output is not seen by this test")
	}
	logged.Reset()
	Run(t.Context(), Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}}, []string{"version", "--client"})
	klog.ErrorS(errors.New("context canceled"), "Unexpected error when reading response body")
	utilruntime.HandleError(errors.New("handled elsewhere"))
	if klog.Flush(); logged.Len() > 0 {
		t.Errorf("libraries logged:\n%s", logged.String())
	}
}
