package source

import (
	"bytes"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
)

// mayHoldShortBool finds documents that may hold a bare y or n: the letter between marks or blanks.
func mayHoldShortBool(text []byte) bool {
	for i, c := range text {
		if c|0x20 != 'y' && c|0x20 != 'n' {
			continue
		}
		if (i == 0 || beforeScalar[text[i-1]]) && (i+1 == len(text) || behindScalar[text[i+1]]) {
			return true
		}
	}
	return false
}

// beforeScalar and behindScalar are the bytes that a plain scalar may stand between.
var (
	beforeScalar = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '\f': true, '\v': true, ':': true,
		',': true, '[': true, '{': true, '-': true}
	behindScalar = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '\f': true, '\v': true, ':': true,
		',': true, ']': true, '}': true}
)

// quoteShortBools puts quotes around the bare scalars y, Y, n and N. YAML 1.1, which kubectl reads,
// takes them for booleans, and every tool that writes them means text: a queue called n, a node called
// y. No field of Kubernetes is written so for a boolean. kubectl itself refuses such a manifest.
func quoteShortBools(text []byte) []byte {
	if !mayHoldShortBool(text) {
		return text
	}
	var root yamlv3.Node
	if yamlv3.Unmarshal(text, &root) != nil {
		return text // the conversion says what is wrong
	}
	var at []int
	lines := lineStarts(text)
	visitScalars(&root, func(n *yamlv3.Node) {
		if n.Style != 0 || len(n.Value) != 1 || !bytes.Contains([]byte("yYnN"), []byte(n.Value)) ||
			n.Line > len(lines) {
			return
		}
		// Columns count characters: walk the line to find the byte.
		offset := lines[n.Line-1]
		for range n.Column - 1 {
			offset++
			for offset < len(text) && text[offset]&0xC0 == 0x80 {
				offset++
			}
		}
		if offset < len(text) && text[offset] == n.Value[0] {
			at = append(at, offset)
		}
	})
	slices.Sort(at)
	out := make([]byte, 0, len(text)+2*len(at))
	from := 0
	for _, i := range slices.Compact(at) {
		out = append(out, text[from:i]...)
		out = append(out, '"', text[i], '"')
		from = i + 1
	}
	return append(out, text[from:]...)
}

// visitScalars visits the scalars of a document without following aliases, so each once.
func visitScalars(n *yamlv3.Node, visit func(*yamlv3.Node)) {
	if n.Kind == yamlv3.ScalarNode {
		visit(n)
	}
	for _, c := range n.Content {
		visitScalars(c, visit)
	}
}

// lineStarts lists the offset of each line.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}
