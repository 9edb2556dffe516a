package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var githubCommands = map[lint.Severity]string{lint.Error: "error", lint.Warning: "warning", lint.Info: "notice"}

// writeGitHub writes workflow commands, which GitHub shows as annotations of the files.
func writeGitHub(w io.Writer, d *Findings) error {
	out := bufio.NewWriter(w)
	for _, f := range d.result.Findings {
		var properties []string
		set := func(name, value string) { properties = append(properties, name+"="+githubProperty.Replace(value)) }
		if f.At.File != "" {
			set("file", f.At.File)
			if f.At.Line > 0 {
				set("line", fmt.Sprint(f.At.Line))
				set("endLine", fmt.Sprint(max(f.At.EndLine, f.At.Line)))
			}
			if f.At.Column > 0 && f.At.EndLine == f.At.Line {
				set("col", fmt.Sprint(f.At.Column))
				set("endColumn", fmt.Sprint(f.At.EndColumn))
			}
		}
		set("title", f.Rule.ID+" "+f.Rule.Name)
		text := findingText(f)
		if f.At.File == "" {
			text = f.At.String() + ": " + text
		}
		fmt.Fprintf(out, "::%s %s::%s\n", githubCommands[f.Severity], strings.Join(properties, ","),
			githubData.Replace(text))
	}
	return out.Flush()
}

// githubData and githubProperty escape what ends a command or a property.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
