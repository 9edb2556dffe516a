package source

import (
	"bytes"
	"context"
	"io"
)

// NotServed is the reason given to Sink.Missing for a kind that the API server does not serve.
const NotServed = "not served"

// Options say what to read.
type Options struct {
	// Filenames are files, directories, globs and "-" (standard input), read in this order.
	// Of a directory the files *.yaml, *.yml, *.json, *.jsonl and *.ndjson are read, by name.
	Filenames []string
	// Recursive reads directories with everything below them; otherwise only their direct children.
	Recursive bool
	// Stdin is read for "-".
	Stdin io.Reader
	// FirstSeq is the Seq of the first document.
	FirstSeq int
}

// Read reads all objects of the files named in opts. Whatever cannot be read is a [Problem] of the sink;
// the error is that of ctx. A file that is named twice is read once.
func Read(ctx context.Context, opts Options, sink Sink) error {
	out := &emitter{ctx: ctx, sink: sink, seq: opts.FirstSeq}
	places := &placeCache{}
	for _, f := range findFiles(opts.Filenames, opts.Recursive, out) {
		if ctx.Err() != nil {
			break
		}
		readFile(f, opts.Stdin, out, places)
	}
	return ctx.Err()
}

// ReadBytes reads text as if it were the content of a file called name. The origins of the
// documents refer to it, so that it must not change.
func ReadBytes(ctx context.Context, name string, text []byte, sink Sink) error {
	out := &emitter{ctx: ctx, sink: sink}
	in := &input{name: name, backing: heldBytes(text), out: out, places: &placeCache{}}
	in.read(bytes.NewReader(text))
	return ctx.Err()
}

// maxProblems bounds the problems told about one file. A file with more is not what it was taken for.
const maxProblems = 100

// emitter passes on what the readers find.
type emitter struct {
	ctx  context.Context
	sink Sink
	seq  int
	// file is the input that is being read, and problems counts its problems.
	file     string
	problems int
	// wants remembers the latest answer of the sink: inputs hold long runs of one kind.
	wants struct {
		typeMeta
		yes bool
	}
}

func (e *emitter) begin(file string) { e.file, e.problems = file, 0 }

func (e *emitter) want(t typeMeta) bool {
	if e.wants.typeMeta != t {
		e.wants.typeMeta, e.wants.yes = t, e.sink.Want(t.apiVersion, t.kind)
	}
	return e.wants.yes
}

func (e *emitter) document(t typeMeta, text []byte, origin *Origin) {
	e.sink.Document(Document{APIVersion: t.apiVersion, Kind: t.kind, JSON: text, Origin: origin, Seq: e.seq})
	e.seq++
}

// full tells that reading the current file on is of no use.
func (e *emitter) full() bool { return e.problems >= maxProblems || e.ctx.Err() != nil }

func (e *emitter) problem(line int, reason string) {
	if e.full() {
		return
	}
	e.problems++
	e.sink.Problem(Problem{File: e.file, Line: line, Reason: reason})
	if e.problems == maxProblems {
		e.sink.Problem(Problem{File: e.file, Line: line, Reason: "too many problems: the rest of the file is not read"})
	}
}
