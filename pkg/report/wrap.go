package report

import "strings"

// narrowest column that text is wrapped to.
const narrowest = 20

// wrapWords breaks text between words, never inside one: a number keeps its digits and its unit.
// A word longer than the line stands alone and sticks out.
func wrapWords(text string, columns int) []string {
	return wrapPieces(strings.Fields(text), " ", "", columns)
}

// wrapPieces joins pieces by a separator into lines of at most the given columns. A line that is not
// the first starts with lead; one that is not the last ends with the separator, less its last space,
// unless lead takes the separator's part. Pieces longer than a line are wrapped between words.
func wrapPieces(pieces []string, separator, lead string, columns int) []string {
	return wrapIn(pieces, separator, lead, max(columns, narrowest))
}

// wrapIn is wrapPieces for room that may be narrower than text should be.
func wrapIn(pieces []string, separator, lead string, columns int) []string {
	var lines []string
	line, used := "", 0
	tail := strings.TrimRight(separator, " ")
	if lead != "" {
		tail = ""
	}
	for i, piece := range pieces {
		w := width(piece)
		room := w
		if i < len(pieces)-1 {
			room += width(tail)
		}
		switch {
		case i == 0:
			line, used = piece, w
		case used+width(separator)+room <= columns:
			line, used = line+separator+piece, used+width(separator)+w
		default:
			lines = appendLine(lines, line+tail, separator, columns)
			line, used = lead+piece, width(lead)+w
		}
	}
	if line != "" {
		lines = appendLine(lines, line, separator, columns)
	}
	return lines
}

// appendLine adds a line, wrapped between words when it is one piece that is too long.
func appendLine(lines []string, line, separator string, columns int) []string {
	if width(line) <= columns || separator == " " {
		return append(lines, line)
	}
	for i, part := range wrapWords(line, columns-2) {
		if i > 0 {
			part = "  " + part
		}
		lines = append(lines, part)
	}
	return lines
}
