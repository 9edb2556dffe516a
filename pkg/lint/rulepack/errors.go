package rulepack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake in a rule pack.
type Error struct {
	File string
	// Line and Column count from 1; 0 where the mistake has no place.
	Line, Column int
	// Rule is the ID of the rule, where the mistake is in one.
	Rule    string
	Message string
	// Text is the line of the file.
	Text string
}

// Error is `file:line:column: rule ID: message`, and the line with a caret below the place.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	if e.Rule != "" {
		fmt.Fprintf(&b, "rule %s: ", e.Rule)
	}
	b.WriteString(e.Message)
	if e.Text != "" && e.Column > 0 {
		number := fmt.Sprintf("%5d | ", e.Line)
		fmt.Fprintf(&b, "\n%s%s\n%*s | %s^", number, strings.ReplaceAll(e.Text, "\t", " "), len(number)-3, "",
			strings.Repeat(" ", indentTo(e.Text, e.Column)))
	}
	return b.String()
}

// indentTo counts the characters before a column in bytes.
func indentTo(text string, column int) int {
	return len([]rune(text[:min(max(column-1, 0), len(text))]))
}

// Errors are all mistakes found, by file and place.
type Errors []*Error

// Error lists them.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}
