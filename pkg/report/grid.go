package report

import (
	"slices"
	"strings"
)

// gap is the space between two columns.
const gap = 2

// cell is one field of a row.
type cell struct {
	text string
	role role
}

func plainCell(text string) cell { return cell{text: clean(text)} }

// flow is the last field of a row: pieces that wrap between, never inside, unless one alone is too long.
type flow struct {
	pieces    []string
	separator string
	// lead starts the lines after the first, in place of the separator.
	lead string
	role role
	// placeholder stands for nothing; it is left out where it would take a line of its own.
	placeholder bool
}

func words(text string) flow { return flow{pieces: strings.Fields(clean(text)), separator: " "} }

// row is one row of a grid, with lines of its own under it.
type row struct {
	cells []cell
	tail  flow
	under []note
}

// note is a line under a row.
type note struct {
	flow
	indent int
	// unmarked leaves out the mark that ties the note to the row.
	unmarked bool
}

const (
	noteMark  = "└ "
	markWidth = 2
)

// grid lays out rows in aligned columns without borders. Only the last column wraps; where the screen
// leaves no room for it, it goes below the row, and on a terminal that is narrower still others do. (The table of
// lipgloss is not used: it breaks words that do not fit, and takes a fifth of a second for ten thousand rows.)
type grid struct {
	indent int
	// below is the indent of a last column that goes below.
	below  int
	titles []string
	// right aligns a column to the right.
	right map[int]bool
	// quiet leaves a zero of a column out where it stands below the row.
	quiet map[int]bool
	// labelled puts the title of the last column before it where it stands below the row.
	labelled bool
	rows     []row
}

func (g *grid) add(r row) { g.rows = append(g.rows, r) }

// draw writes the grid. The titles are those of the cells, then that of the tail.
func (g *grid) draw(s *Screen) {
	widths := g.widths()
	columns := s.columnsThatFit(g.indent, widths)
	stacked := columns < len(widths)
	tailTitle := g.titles[len(widths)]
	widths = widths[:columns]
	at := g.indent
	for _, w := range widths {
		at += w + gap
	}
	stacked = stacked || s.Width-at < g.tailNeeds() || s.folds && s.Width-at < width(tailTitle)
	head := row{tail: flow{pieces: []string{tailTitle}, separator: " ", role: heading}}
	if stacked {
		head.tail = flow{}
	}
	for _, t := range g.titles[:columns] {
		head.cells = append(head.cells, cell{t, heading})
	}
	g.drawRow(s, head, widths, at)
	for _, r := range g.rows {
		if stacked {
			g.stack(&r, columns)
		}
		g.drawRow(s, r, widths, at)
	}
}

// stack puts below a row what has no room behind it: the columns from the n-th on, and the last one.
func (g *grid) stack(r *row, n int) {
	var below []note
	if pieces := g.fold(r, n); len(pieces) > 0 {
		below = append(below, note{flow: flow{pieces: pieces, separator: " · "}, indent: g.below, unmarked: true})
	}
	if !r.tail.placeholder && len(r.tail.pieces) > 0 {
		if g.labelled {
			r.tail.pieces = slices.Concat([]string{strings.ToLower(g.titles[len(g.titles)-1]) + " " + r.tail.pieces[0]},
				r.tail.pieces[1:])
		}
		below = append(below, note{flow: r.tail, indent: g.below, unmarked: true})
	}
	r.under = append(below, r.under...)
	r.tail = flow{}
}

// tailNeeds is the room the last column needs: its widest piece, up to a limit from which pieces wrap.
func (g *grid) tailNeeds() int {
	const enough = 28
	widest := 0
	for _, r := range g.rows {
		for _, p := range r.tail.pieces {
			widest = max(widest, min(width(p)+1, enough))
		}
	}
	return widest
}

func (g *grid) widths() []int {
	widths := make([]int, len(g.titles)-1)
	for i := range widths {
		widths[i] = width(g.titles[i])
		for _, r := range g.rows {
			widths[i] = max(widths[i], width(r.cells[i].text))
		}
	}
	return widths
}

func (g *grid) drawRow(s *Screen, r row, widths []int, at int) {
	var b strings.Builder
	b.WriteString(spaces(g.indent))
	for i, c := range r.cells {
		pad := spaces(widths[i] - width(c.text))
		if g.right[i] {
			b.WriteString(pad)
			pad = ""
		}
		b.WriteString(s.paint(c.role, c.text))
		b.WriteString(pad)
		b.WriteString(spaces(gap))
	}
	lines := wrapIn(r.tail.pieces, r.tail.separator, r.tail.lead, s.Width-at)
	if len(lines) == 0 {
		lines = []string{""}
	}
	s.line(b.String(), s.paint(r.tail.role, lines[0]))
	for _, l := range lines[1:] {
		s.line(spaces(at), s.paint(r.tail.role, l))
	}
	for _, n := range r.under {
		n.draw(s)
	}
}

func (n note) draw(s *Screen) {
	for i, l := range wrapPieces(n.pieces, n.separator, n.lead, s.Width-n.indent-markWidth) {
		lead := noteMark
		if i > 0 || n.unmarked {
			lead = spaces(markWidth)
		}
		s.line(spaces(n.indent), s.paint(n.role, lead+l))
	}
}

const blank = "                                                                                "

func spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blank):
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}
