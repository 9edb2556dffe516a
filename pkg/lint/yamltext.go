package lint

import (
	"bytes"
	"regexp"
	"strings"
)

// blockScalar ends a line whose value stands on the lines below: everything there is text.
var blockScalar = regexp.MustCompile(`(?:^|[\s:-])[|>][0-9+-]{0,2}\s*(?:#.*)?$`)

// inString tells that what stands behind the given start of a line is part of a string: of a quoted one on that line,
// or of a block scalar that the line belongs to.
func inString(text []byte, start int, before string) bool {
	return inQuotes(before) || inBlockScalar(text, start)
}

// inQuotes tells that a quote is open at the end of the start of a line.
func inQuotes(before string) bool {
	open := byte(0)
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case open == '"' && c == '\\':
			i++
		case open != 0 && c == open:
			open = 0
		case open == 0 && (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t[{,:", before[i-1]) >= 0):
			open = c
		}
	}
	return open != 0
}

// inBlockScalar tells that the line at start belongs to a block scalar: one that it stands deeper than ends in | or >.
func inBlockScalar(text []byte, start int) bool {
	column := blanksAt(lineAt(text, start))
	for end := start - 1; end > 0 && column > 0; {
		at := bytes.LastIndexByte(text[:end], '\n') + 1
		line := lineAt(text, at)
		end = at - 1
		if strings.TrimSpace(line) == "" || blanksAt(line) >= column {
			continue
		}
		if isMarker(line) {
			return false
		}
		parent := keyColumn(line)
		if parent < column && blockScalar.MatchString(line) {
			return true
		}
		column = min(column, blanksAt(line))
	}
	return false
}

func isMarker(line string) bool { return strings.HasPrefix(line, "---") || line == "..." }

// blanksAt counts the blanks at the start of a line.
func blanksAt(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// keyColumn is the column that the value of a line's last key must stand deeper than: that of the key, or of the dash
// of an item that is no map.
func keyColumn(line string) int {
	column := blanksAt(line)
	for strings.HasPrefix(line[column:], "- ") {
		next := column + 1 + blanksAt(line[column+1:])
		if next >= len(line) || line[next] == '|' || line[next] == '>' {
			break
		}
		column = next
	}
	return column
}
