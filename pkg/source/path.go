package source

import (
	"strconv"
	"strings"
)

// step is one step of a field path: a map key, or an index.
type step struct {
	key   string
	index int // -1: the step is a key
}

// parsePath splits a field path such as `spec.a[0]["b.c"].d`. A path that is not well-formed is cut
// off at the first step that is not.
func parsePath(path string) []step {
	var steps []step
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case path[0] == '[':
			s, rest, ok := bracketStep(path[1:])
			if !ok {
				return steps
			}
			steps, path = append(steps, s), rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps, path = append(steps, step{path[:end], -1}), path[end:]
		}
	}
	return steps
}

// bracketStep reads `0]`, `"key"]` or `'key']`, or a key without quotes.
func bracketStep(text string) (s step, rest string, ok bool) {
	if text == "" {
		return s, "", false
	}
	if text[0] == '\'' {
		key, rest, ok := strings.Cut(text[1:], "']")
		return step{key, -1}, rest, ok
	}
	if text[0] == '"' {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil || !strings.HasPrefix(text[len(quoted):], "]") {
			return s, "", false
		}
		key, err := strconv.Unquote(quoted)
		return step{key, -1}, text[len(quoted)+1:], err == nil
	}
	word, rest, ok := strings.Cut(text, "]")
	if n, err := strconv.Atoi(word); err == nil && n >= 0 {
		return step{index: n}, rest, ok
	}
	return step{word, -1}, rest, ok
}
