package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// writeMarkdown writes a table for a pull request.
func writeMarkdown(w io.Writer, d *Findings) error {
	out := bufio.NewWriter(w)
	s := newScreen(out, Terminal{Width: 1 << 12})
	s.line("## kubectl gpu-quota lint")
	s.line()
	if len(d.result.Findings) > 0 {
		s.line("| | rule | where | what |")
		s.line("|---|---|---|---|")
		for _, f := range d.result.Findings {
			name := f.Rule.ID
			if page := RuleURL(f.Rule); page != "" {
				name = fmt.Sprintf("[%s](%s)", name, page)
			}
			s.line(fmt.Sprintf("| %s | %s | `%s`<br>%s | %s |", f.Severity, name, cellText(f.At.String()),
				cellText(f.At.Object.String()), cellText(findingText(f))))
		}
		s.line()
	}
	d.summary(s)
	if err := s.flush(); err != nil {
		return err
	}
	return out.Flush()
}

// cellText keeps a text inside one cell of a table.
func cellText(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(clean(text))
}
