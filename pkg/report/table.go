package report

import "io"

// tablePrinter draws for people.
type tablePrinter struct{ terminal Terminal }

// Print implements [Printer].
func (p tablePrinter) Print(w io.Writer, d Document) error {
	s := newScreen(w, p.terminal)
	d.Draw(s)
	return s.flush()
}
