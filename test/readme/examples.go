// Package readme holds the documentation to the program: every command shown in a block marked
// `console` is run, and its output must be the one shown.
//
// In: Markdown. Out: the examples in it, and the Markdown with the outputs replaced.
package readme

import (
	"errors"
	"strings"
)

const (
	opening = "```console"
	closing = "```"
	prompt  = "$ "
)

// Example is one command and the output shown below it.
type Example struct {
	// Line of the command, from 1.
	Line    int
	Command string
	Output  string
}

// Examples returns the commands in the console blocks of a Markdown text, in order.
func Examples(markdown string) []Example {
	var out []Example
	rewrite(markdown, func(e Example) string {
		out = append(out, e)
		return e.Output
	})
	return out
}

// Rewrite returns the text with the output of every example replaced by what run returns for it.
func Rewrite(markdown string, run func(Example) string) string { return rewrite(markdown, run) }

func rewrite(markdown string, output func(Example) string) string {
	var text strings.Builder
	var at *Example
	flush := func() {
		if at != nil {
			text.WriteString(output(*at))
		}
		at = nil
	}
	inside, number := false, 0
	for line := range strings.Lines(markdown) {
		number++
		plain := strings.TrimRight(line, "\r\n")
		switch {
		case !inside:
			inside = plain == opening
			text.WriteString(line)
		case plain == closing:
			flush()
			inside = false
			text.WriteString(line)
		case strings.HasPrefix(plain, prompt):
			flush()
			text.WriteString(line)
			at = &Example{Line: number, Command: strings.TrimPrefix(plain, prompt)}
		case at != nil:
			at.Output += line
		default:
			text.WriteString(line)
		}
	}
	flush()
	return text.String()
}

// Words splits a command as a shell does that knows of nothing but blanks and single quotes. What
// another shell would read otherwise is refused.
func Words(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	started, quoted := false, false
	for _, r := range command {
		switch {
		case r == '\'':
			quoted, started = !quoted, true
		case quoted:
			word.WriteRune(r)
		case r == ' ':
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		case strings.ContainsRune("|&;<>()$`\\\"*?[#~%{}\n\t", r):
			return nil, errors.New("outside single quotes a shell gives a meaning to " + string(r))
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quoted {
		return nil, errors.New("a single quote is not closed")
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
