package source

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	// maxObject is the largest object handed over: etcd refuses anything beyond a few MiB.
	maxObject = 64 << 20
	// windowSize is how much is read at once. It fits the second level cache.
	windowSize = 256 << 10
	// smallWindow is the least that is read at once.
	smallWindow = 1 << 10
)

// window is a sliding view of an input. Offsets into it move when it is filled; base makes them absolute.
type window struct {
	src io.Reader // nil: buf is the whole input
	err error     // why src ended, nil for a plain end
	buf []byte
	pos int // the next byte to look at

	// keep is the first byte that a fill must not drop, or -1. Text kept beyond maxObject is given
	// up: keep becomes -1, and lost tells so.
	keep int
	lost bool

	base      int64 // absolute offset of buf[0]
	counted   int   // newlines are counted up to here
	lineNo    int   // the line that buf[counted] is on
	lineStart int64 // absolute offset of that line's first byte, at or before counted

	open nesting
}

func newWindow(src io.Reader, firstLine int) *window { return newWindowOf(src, firstLine, windowSize) }

// newWindowOf makes a window for an input of about size bytes: an archive has many small files.
func newWindowOf(src io.Reader, firstLine int, size int64) *window {
	var buf []byte
	if size+1 < windowSize {
		buf = make([]byte, 0, max(smallWindow, size+1))
	} else if free, ok := freeWindows.Get().(*[]byte); ok {
		buf = (*free)[:0]
	} else {
		buf = make([]byte, 0, windowSize)
	}
	return &window{src: src, buf: buf, keep: -1, lineNo: firstLine}
}

// freeWindows are buffers that were used before: clearing new ones takes long for an archive of many small files.
var freeWindows sync.Pool

// release gives the buffer back when nothing of it is used any more.
func (w *window) release() {
	if buf := w.buf[:0]; cap(buf) == windowSize {
		freeWindows.Put(&buf)
	}
	w.buf = nil
}

// windowOn views text, which stands at an absolute offset and line of its input.
func windowOn(text []byte, base int64, firstLine int) *window {
	return &window{buf: text, keep: -1, base: base, lineStart: base, lineNo: firstLine}
}

// fill reads more text behind buf. It reports false at the end of the input.
func (w *window) fill() bool {
	if w.src == nil {
		return false
	}
	if w.keep >= 0 && w.pos-w.keep > maxObject {
		w.keep, w.lost = -1, true
	}
	w.slide(w.keepFrom())
	for range 100 {
		n, err := w.src.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		if err != nil {
			w.src = nil
			if !errors.Is(err, io.EOF) {
				w.err = err
			}
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	w.src, w.err = nil, io.ErrNoProgress
	return false
}

// maxIndent is how much white space at the start of a line is kept to tell an object's indentation.
const maxIndent = 200

// keepFrom is the first byte that must stay: the kept text, else a short start of the current line.
func (w *window) keepFrom() int {
	if w.keep >= 0 {
		return min(w.pos, w.keep)
	}
	w.countTo(max(w.pos, w.counted))
	if start := int(w.lineStart - w.base); start >= 0 && start < w.pos && w.pos-start <= maxIndent {
		return start
	}
	return w.pos
}

// slide drops the text before from, and makes room for more.
func (w *window) slide(from int) {
	w.countTo(max(from, w.counted))
	if kept := len(w.buf) - from; kept > cap(w.buf)/2 {
		bigger := make([]byte, kept, 2*cap(w.buf))
		copy(bigger, w.buf[from:])
		w.buf = bigger
	} else {
		w.buf = w.buf[:copy(w.buf, w.buf[from:])]
	}
	w.base += int64(from)
	w.pos -= from
	w.counted -= from
	if w.keep >= 0 {
		w.keep -= from
	}
}

// countTo moves the line count forward.
func (w *window) countTo(at int) {
	text := w.buf[w.counted:at]
	if n := bytes.Count(text, newline); n > 0 {
		w.lineNo += n
		w.lineStart = w.base + int64(w.counted+bytes.LastIndexByte(text, '\n')+1)
	}
	w.counted = at
}

var newline = []byte{'\n'}

// line tells the line of a byte of the window.
func (w *window) line(at int) int {
	if at < w.counted {
		return w.lineNo - bytes.Count(w.buf[at:w.counted], newline)
	}
	w.countTo(at)
	return w.lineNo
}

// offset is the absolute offset of the next byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// indent is the number of bytes of white space before at on its line, or -1 when other text stands there.
// The lines must be counted up to at.
func (w *window) indent(at int) int {
	start := int(w.lineStart - w.base)
	if start < 0 || at-start > maxIndent {
		return -1
	}
	for _, c := range w.buf[start:at] {
		if !isSpace(c) {
			return -1
		}
	}
	return at - start
}

// have makes sure that n bytes stand from pos on, if the input has them.
func (w *window) have(n int) bool {
	for len(w.buf)-w.pos < n {
		if !w.fill() {
			return false
		}
	}
	return true
}
