package report

import (
	"bufio"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// DefaultWidth is the width of a screen whose real width is not known, in columns.
const DefaultWidth = 100

// minWidth is the narrowest layout; a narrower terminal wraps by itself.
const minWidth = 60

// Terminal describes what a screen is drawn on.
type Terminal struct {
	// Width in columns; 0 means DefaultWidth.
	Width int
	// Color allows escape sequences.
	Color bool
	// ASCII keeps to characters every terminal has.
	ASCII bool
	// Wide asks for more detail.
	Wide bool
	// Now is the time ages are counted from; zero prints times instead of ages.
	Now time.Time
}

// role is what a piece of text tells; the colour follows from it. A role never is the only sign: the
// text holds a word or a mark that says the same.
type role int

const (
	normal role = iota
	heading
	good
	waiting
	bad
	faint
)

// Screen draws for people. Errors of the writer are kept and returned by flush.
type Screen struct {
	Terminal
	out    *bufio.Writer
	indent int
	// folds tells that the width is real: what has no room goes below.
	folds  bool
	styles map[role]lipgloss.Style
}

func newScreen(w io.Writer, t Terminal) *Screen {
	folds := t.Width > 0
	if !folds {
		t.Width = DefaultWidth
	}
	t.Width = max(t.Width, minWidth)
	s := &Screen{Terminal: t, out: bufio.NewWriterSize(w, 1<<16), folds: folds}
	if t.Color {
		r := lipgloss.NewRenderer(io.Discard)
		r.SetColorProfile(termenv.ANSI)
		s.styles = map[role]lipgloss.Style{
			heading: r.NewStyle().Bold(true),
			good:    r.NewStyle().Foreground(lipgloss.Color("2")),
			waiting: r.NewStyle().Foreground(lipgloss.Color("3")),
			bad:     r.NewStyle().Foreground(lipgloss.Color("1")).Bold(true),
			faint:   r.NewStyle().Faint(true),
		}
	}
	return s
}

// indented draws with less width, a few columns in.
func (s *Screen) indented(columns int, draw func(*Screen)) {
	inner := *s
	inner.indent += columns
	inner.Width -= columns
	draw(&inner)
}

func (s *Screen) flush() error { return s.out.Flush() }

func (s *Screen) paint(r role, text string) string {
	style, ok := s.styles[r]
	if !ok || text == "" {
		return text
	}
	return style.Render(text)
}

// line writes one line. The pieces are painted by the caller.
func (s *Screen) line(pieces ...string) {
	text := strings.TrimRight(spaces(s.indent)+strings.Join(pieces, ""), " ")
	if s.ASCII {
		text = asciiMarks.Replace(text)
	}
	s.out.WriteString(text)
	s.out.WriteByte('\n')
}

// asciiMarks replaces one column by one column, so that layouts stay.
var asciiMarks = strings.NewReplacer("✓", "+", "✗", "x", "→", ">", "·", "-", "—", "-", "…", "~", "×", "x", "•", "*",
	"└", "\\",
	"├", "|", "│", "|", "─", "-", "█", "#", "▓", "+", "░", ".")

// clean makes text of the input safe to draw: control characters would reach the terminal.
func clean(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return '?'
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}

func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// width of a text in columns.
func width(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return lipgloss.Width(text)
}

// paragraph writes text behind a label, wrapped between words; the lines after the first are indented
// to the label's width.
func (s *Screen) paragraph(label string, text string) {
	pad := strings.Repeat(" ", width(label))
	for i, l := range wrapWords(clean(text), s.Width-width(label)) {
		if i == 0 {
			s.line(label, l)
			continue
		}
		s.line(pad, l)
	}
}

// section is a title with a remark behind it, after an empty line.
func (s *Screen) section(title, remark string) {
	s.line()
	s.title(title, remark)
}

// title is a title with a remark behind it.
func (s *Screen) title(title, remark string) {
	s.paragraphIn(s.paint(heading, title)+"   ", width(title)+3, faint, remark)
}

// paragraphIn is a paragraph of one colour behind a label that is painted already.
func (s *Screen) paragraphIn(label string, labelWidth int, r role, text string) {
	lines := wrapWords(clean(text), s.Width-labelWidth)
	if len(lines) == 0 {
		s.line(label)
	}
	for i, l := range lines {
		if i > 0 {
			label = spaces(labelWidth)
		}
		s.line(label, s.paint(r, l))
	}
}
