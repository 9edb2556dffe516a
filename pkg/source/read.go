package source

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
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
	// Texts stand for the content of files, by the names they are found under: changes that are not written yet.
	Texts map[string][]byte
	// Skip leaves a file, or a directory with everything below it, out. Nil leaves nothing out.
	Skip func(path string, isDir bool) bool
}

// Read reads all objects of the files named in opts. Whatever cannot be read is a [Problem] of the sink;
// the error is that of ctx. A file that is named twice is read once.
func Read(ctx context.Context, opts Options, sink Sink) error {
	out := &emitter{ctx: ctx, sink: sink, seq: opts.FirstSeq}
	places := &placeCache{}
	readInTurn(ctx, findFiles(opts, out), opts, out, places)
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
	// archived tells that the file comes out of an archive; packedProblems counts the problems of that archive.
	archived       bool
	packedProblems int
	// apart tells that others read other parts of the input at the same time; uncounted, that the problems are counted
	// when they are handed on.
	apart, uncounted bool
	// batch is how much YAML is converted at once, 0: batchSize.
	batch int
	// wants remembers the latest answer of the sink: inputs hold long runs of one kind.
	wants struct {
		typeMeta
		yes bool
	}
}

// begin notes that a file is read from now on.
func (e *emitter) begin(file string) {
	another := e.file != file
	e.file, e.problems = file, 0
	if parts, ok := e.sink.(PartSink); ok && another {
		parts.Scope(scopeOf(file))
	}
}

// brokeOff tells that what was read may lack objects of any kind.
func (e *emitter) brokeOff(reason string) {
	if parts, ok := e.sink.(PartSink); ok && e.ctx.Err() == nil {
		parts.BrokeOff(reason)
	}
}

func (e *emitter) beginArchive() { e.archived, e.packedProblems = true, 0 }

// endArchive tells how many problems of an archive were too many to tell.
func (e *emitter) endArchive(name string) {
	e.archived = false
	if more := e.packedProblems - maxPackedProblems; more > 0 {
		e.begin(name)
		e.problem(0, fmt.Sprintf("%d more problems are not told", more))
	}
}

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

func (e *emitter) batchSize() int { return cmp.Or(e.batch, batchSize) }

// full tells that reading the current file on is of no use.
func (e *emitter) full() bool { return e.problems >= maxProblems && !e.uncounted || e.ctx.Err() != nil }

func (e *emitter) problem(line int, reason string) {
	if e.full() {
		return
	}
	e.problems++
	if e.archived {
		if e.packedProblems++; e.packedProblems > maxPackedProblems {
			return
		}
	}
	e.sink.Problem(Problem{File: e.file, Line: line, Reason: reason})
	if e.problems == maxProblems && !e.uncounted {
		e.sink.Problem(Problem{File: e.file, Line: line, Reason: "too many problems: the rest of the file is not read"})
	}
}
