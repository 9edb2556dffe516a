package source

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

const (
	// maxYAML is the largest YAML text parsed at once, and maxNodes the most values in it: a parsed
	// value takes a hundred times the memory of its text.
	maxYAML  = 64 << 20
	maxNodes = 2 << 20
	// maxExpanded bounds the text that the aliases of a document may stand for.
	maxExpanded = 64 << 20
)

// convert turns YAML text into JSON, as kubectl does, and reads the objects in it.
// It reports false when something could not be used.
func (y *yamlReader) convert(part *yamlText, text []byte, stamp typeMeta) bool {
	out := y.in.out
	before := out.problems
	converted, err := toJSON(text)
	if err != nil {
		line, reason := explain(err, text)
		at := part.first
		if line > 0 {
			at = part.line + line - 1
		}
		out.problem(at, reason)
		return false
	}
	if len(converted) == 0 || converted[0] != '{' && converted[0] != '[' {
		return true
	}
	(&jsonReader{w: windowOn(converted, 0, 1), out: out, place: part.in(y.in.name), stamp: stamp}).read()
	return out.problems == before
}

// limitError says that a document is refused for its size.
type limitError string

func (e limitError) Error() string { return string(e) }

// toJSON converts one YAML document. It neither panics nor takes more memory than a document of its size may.
func toJSON(text []byte) (converted []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			converted, err = nil, fmt.Errorf("yaml: the document cannot be parsed: %v", p)
		}
	}()
	if len(text) > maxYAML {
		return nil, limitError(fmt.Sprintf("YAML of more than %d MiB in one object is not read", maxYAML>>20))
	}
	if nodesAtMost(text) > maxNodes {
		return nil, limitError(fmt.Sprintf("YAML with more than %d values in one object is not read", maxNodes))
	}
	if err := checkAliases(text); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(quoteShortBools(text))
}

// nodesAtMost is an upper bound of the number of values in YAML text: each stands behind one of these bytes.
func nodesAtMost(text []byte) int {
	n := 1
	for _, mark := range []byte("\n,:[{-?") {
		n += bytes.Count(text, []byte{mark})
	}
	return n
}

// checkAliases refuses a document whose aliases stand for more text, or deeper nesting, than a document may have.
// The YAML library bounds the number of values that aliases make, but neither the size of their strings nor the depth.
func checkAliases(text []byte) error {
	if bytes.IndexByte(text, '*') < 0 || bytes.IndexByte(text, '&') < 0 {
		return nil
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(text, &root); err != nil {
		return err
	}
	switch whole := expand(&root, map[*yamlv3.Node]extent{}); {
	case whole.size > maxExpanded:
		return limitError(fmt.Sprintf("the aliases of the document stand for more than %d MiB of text",
			maxExpanded>>20))
	case whole.depth > maxDepth:
		return limitError(fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	return nil
}

// extent is what a value takes with its aliases resolved.
type extent struct{ size, depth int }

// expand measures a value. Its size does not grow beyond maxExpanded+1. An anchor stands before its aliases, so that
// these find it measured; an alias inside its own anchor counts as nothing: the YAML library refuses it.
func expand(n *yamlv3.Node, anchors map[*yamlv3.Node]extent) extent {
	if n.Kind == yamlv3.AliasNode {
		return anchors[n.Alias]
	}
	whole := extent{size: len(n.Value) + 8}
	for _, c := range n.Content {
		part := expand(c, anchors)
		whole.size = min(whole.size+part.size, maxExpanded+1)
		whole.depth = max(whole.depth, part.depth+1)
	}
	if n.Anchor != "" {
		anchors[n] = whole
	}
	return whole
}

var (
	yamlLine = regexp.MustCompile(`^(?:error converting YAML to JSON: )?(?:yaml: )?(?:line (\d+): )?`)
	yamlName = regexp.MustCompile(`anchor '([^']+)'`)
)

// explain gives the line of the text, from 1, that a YAML error is about (0: not known), and what is wrong.
// The YAML library names the line where it gave up, one before it, or none, depending on the error.
func explain(err error, text []byte) (line int, reason string) {
	var limit limitError
	if errors.As(err, &limit) {
		return 0, err.Error()
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	reason = err.Error()[len(m[0]):]
	line, _ = strconv.Atoi(m[1])
	has := func(part string) bool { return strings.Contains(reason, part) }
	switch {
	case has("invalid map key"), has("unsupported map key"):
		return badKeyLine(text), "a map key is not a string; a Helm template must be rendered first (helm template)"
	case has("UTF-8"), has("control characters"):
		line = 1 + bytes.Count(text[:firstUnreadable(text)], newline)
	case has("unknown anchor"):
		line = lineOfName(text, '*', reason)
	case has("contains itself"):
		line = lineOfName(text, '&', reason)
	case has("end of stream"):
		line = openQuoteLine(text, line)
	default:
		line = breakingLine(text, reason, line)
	}
	return line, "not valid YAML: " + reason
}

// lineOfName is the line of the first anchor or alias with the name that a reason quotes.
func lineOfName(text []byte, mark byte, reason string) int {
	m := yamlName.FindStringSubmatch(reason)
	if m == nil {
		return 0
	}
	at := bytes.Index(text, append([]byte{mark}, m[1]...))
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(text[:at], newline)
}

// openQuoteLine is the line of a quote that is never closed. Version 3 of the YAML library tells it, unless it is the
// first line.
func openQuoteLine(text []byte, end int) int {
	first, _, _ := bytes.Cut(text, newline)
	if _, err := toJSON(first); err != nil && strings.Contains(err.Error(), "end of stream") {
		return 1
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(text, &root); err != nil {
		if n, _ := strconv.Atoi(yamlLine.FindStringSubmatch(err.Error())[1]); n > 0 {
			return n
		}
	}
	return end
}

// maxSearched bounds the text in which the exact line of an error is searched.
const maxSearched = 256 << 10

// breakingLine finds the line that makes the text fail with this reason: the text before it does not.
func breakingLine(text []byte, reason string, told int) int {
	if len(text) > maxSearched {
		return told
	}
	var ends []int
	lines(text, func(_ []byte, _, end int) bool {
		ends = append(ends, end)
		return true
	})
	n := sort.Search(len(ends), func(i int) bool {
		_, err := toJSON(text[:ends[i]])
		return err != nil && strings.HasSuffix(err.Error(), reason)
	})
	if n == len(ends) {
		return told
	}
	return n + 1
}

// badKeyLine is the line of the first map key that is a map or a list.
func badKeyLine(text []byte) int {
	var root yamlv3.Node
	if yamlv3.Unmarshal(text, &root) != nil {
		return 0
	}
	line := 0
	var walk func(n *yamlv3.Node)
	walk = func(n *yamlv3.Node) {
		for i, c := range n.Content {
			if n.Kind == yamlv3.MappingNode && i%2 == 0 && c.Kind != yamlv3.ScalarNode && line == 0 {
				line = c.Line
			}
			walk(c)
		}
	}
	walk(&root)
	return line
}

// firstUnreadable is the offset of the first byte that YAML does not allow.
func firstUnreadable(text []byte) int {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 || c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return i
		}
		i += size
	}
	return len(text)
}
