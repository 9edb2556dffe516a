package report

import "strings"

// columnsThatFit counts the columns that have room side by side from an indent on, at least one. A screen that is no
// terminal has room for all: programs read its lines.
func (s *Screen) columnsThatFit(indent int, widths []int) int {
	if !s.folds {
		return len(widths)
	}
	at := indent
	for i, w := range widths {
		if at += w; at > s.Width && i > 0 {
			return i
		}
		at += gap
	}
	return len(widths)
}

// fold takes the columns from the n-th on out of a row: each is a piece with its title, to stand below.
func (g *grid) fold(r *row, n int) []string {
	var out []string
	for i := n; i < len(r.cells); i++ {
		text := strings.TrimSpace(r.cells[i].text)
		if text != "" && (text != "0" || !g.quiet[i]) {
			out = append(out, strings.ToLower(g.titles[i])+" "+text)
		}
	}
	r.cells = r.cells[:n:n]
	return out
}

// leftOf are the numbers of columns when one before them is left out.
func leftOf(columns map[int]bool) map[int]bool {
	out := map[int]bool{}
	for i := range columns {
		out[i-1] = true
	}
	return out
}
