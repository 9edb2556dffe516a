package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// input is one file, or standard input.
type input struct {
	name string
	// size is how long it is said to be; 0: not known.
	size int64
	// backing gives the text again; nil when it cannot be read twice.
	backing backing
	out     *emitter
	places  *placeCache
}

// backing gives a part of an input again, to find the place of a field in it.
type backing interface {
	text(start, end int64) ([]byte, error)
}

// heldBytes is an input that is held in memory.
type heldBytes []byte

func (h heldBytes) text(start, end int64) ([]byte, error) {
	if start < 0 || end < start || end > int64(len(h)) {
		return nil, io.ErrUnexpectedEOF
	}
	return h[start:end], nil
}

// file is a regular file. Its text is given again as long as it has not changed.
type file struct {
	path    string
	size    int64
	changed time.Time
}

var errChanged = errors.New("the file has changed since it was read")

func (f *file) text(start, end int64) ([]byte, error) {
	h, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != f.size || !info.ModTime().Equal(f.changed) {
		return nil, errChanged
	}
	text := make([]byte, end-start)
	_, err = h.ReadAt(text, start)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text, err
}

// readFile reads a file, or standard input.
func readFile(name string, stdin io.Reader, out *emitter, places *placeCache) {
	in := &input{name: name, out: out, places: places}
	out.begin(name)
	if name == stdinName {
		if stdin != nil {
			in.readAny(stdin, nil)
		}
		return
	}
	h, err := os.Open(name)
	if err != nil {
		out.problem(0, plain(err))
		return
	}
	defer h.Close()
	// A pipe, as the shell's <(…) makes one, cannot be read twice.
	if info, err := h.Stat(); err == nil && info.Mode().IsRegular() {
		if path, err := filepath.Abs(name); err == nil {
			in.backing = &file{path: path, size: info.Size(), changed: info.ModTime()}
		}
		in.readAny(h, h)
		return
	}
	in.readAny(h, nil)
}

// readAny reads text, or unpacks what is packed. random is src where it can be read at any place, else nil.
func (in *input) readAny(src io.Reader, random *os.File) {
	head, src := peek(src)
	if isPacked(head) {
		newUnpacker(usualLimits, in.out, in.places).unpack(in.name, src, random)
		return
	}
	in.read(src)
}

const byteOrderMark = "\xef\xbb\xbf"

// foreign are the first bytes of files that hold objects in a form that is not read, and what to do.
var foreign = []struct{ start, reason string }{
	{"\xff\xfe", "the file is UTF-16, as PowerShell's > writes it: save it as UTF-8"},
	{"\xfe\xff", "the file is UTF-16: save it as UTF-8"},
	{"k8s\x00", "the file holds Kubernetes objects as protobuf: export them as JSON or YAML"},
}

// read reads the whole input. Its format is told by its content.
func (in *input) read(src io.Reader) {
	in.out.begin(in.name)
	size := in.size
	if f, ok := in.backing.(*file); ok {
		size = f.size
	}
	if size == 0 {
		size = windowSize
	}
	w := newWindowOf(&cancelled{in.out, src}, 1, size)
	defer w.release()
	w.have(4)
	for _, f := range foreign {
		if bytes.HasPrefix(w.buf, []byte(f.start)) {
			in.out.problem(0, f.reason)
			return
		}
	}
	if bytes.HasPrefix(w.buf, []byte(byteOrderMark)) {
		w.pos, w.counted, w.lineStart = len(byteOrderMark), len(byteOrderMark), int64(len(byteOrderMark))
	}
	if looksLikeJSON(w) {
		r := &jsonReader{w: w, out: in.out, place: in}
		if !r.read() {
			return
		}
	}
	in.readYAML(w)
}

// looksLikeJSON tells JSON from YAML, whose flow style begins with the same bytes: `{name: x}`, `[a, b]`.
// pos is left at the start of the text.
func looksLikeJSON(w *window) bool {
	w.keep = w.pos
	defer func() { w.pos, w.keep = max(w.keep, 0), -1 }()
	first, _ := w.next()
	if first != '{' && first != '[' {
		return false
	}
	w.pos++
	second, ok := w.next()
	return !ok || second == '"' || second == '}' && first == '{' || first == '[' &&
		(second == '{' || second == ']' || second == '[')
}

// origin implements placer for objects that stand as JSON in the input.
func (in *input) origin(_ *jsonReader, f found, text []byte) *Origin {
	p := &jsonPlace{stretch{places: in.places, from: in.backing, start: f.start, end: f.end, line: f.line,
		column: f.column}}
	if in.backing == nil {
		if len(text) != len(f.raw) {
			text = bytes.Clone(f.raw)
		}
		p.from, p.start, p.end = heldBytes(text), 0, int64(len(text))
	}
	return &Origin{File: in.name, Line: f.line, locate: p}
}

// line implements placer.
func (in *input) line(_ *jsonReader, line int) int { return line }

// maxText bounds an input that must be held whole.
const maxText = 512 << 20

// rest returns the text from pos to the end of the input.
func (in *input) rest(w *window) ([]byte, bool) {
	size := len(w.buf)
	if f, ok := in.backing.(*file); ok {
		size = int(min(f.size, maxText)) + bytes.MinRead
	}
	text := bytes.NewBuffer(make([]byte, 0, size))
	text.Write(w.buf[w.pos:])
	err := w.err
	if w.src != nil {
		_, err = text.ReadFrom(io.LimitReader(w.src, maxText+1))
	}
	switch {
	case err != nil:
		in.out.problem(0, "cannot read on: "+plain(err))
	case text.Len() > maxText:
		in.out.problem(0,
			fmt.Sprintf("YAML of more than %d MiB is not read: export it as JSON (kubectl get -o json)", maxText>>20))
	}
	return text.Bytes(), err == nil && text.Len() <= maxText
}

// cancelled ends an input when the context ends.
type cancelled struct {
	out *emitter
	src io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.out.ctx.Err(); err != nil {
		return 0, err
	}
	return c.src.Read(p)
}
