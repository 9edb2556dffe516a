package source

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

const (
	// aheadSize is the largest file that is read before its turn, and aheadFiles how many there may be.
	aheadSize  = 1 << 20
	aheadFiles = 64
)

// turn is a file in the order of the input. read gives what was found in it; nil: it is read when its turn comes.
type turn struct {
	name string
	read chan *recording
}

// readInTurn reads files. Small ones are read several at a time, and what is in them is handed on in the order of the
// input.
func readInTurn(ctx context.Context, files []string, opts Options, out *emitter, places *placeCache) {
	guard := &guarded{Sink: out.sink}
	out.sink = guard
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	turns := make(chan turn, aheadFiles)
	go readAhead(ctx, files, opts, guard, places, turns)
	for t := range turns {
		if ctx.Err() != nil {
			return
		}
		if t.read == nil {
			readNamed(t.name, opts, out, places)
			continue
		}
		r := <-t.read
		for _, hand := range r.events {
			hand(out)
		}
	}
}

// readNamed reads a file, or the text that stands for it.
func readNamed(name string, opts Options, out *emitter, places *placeCache) {
	if text, ok := opts.Texts[name]; ok {
		in := &input{name: name, backing: heldBytes(text), out: out, places: places}
		in.read(bytes.NewReader(text))
		return
	}
	readFile(name, opts.Stdin, out, places)
}

// readAhead starts to read the files that are small.
func readAhead(ctx context.Context, files []string, opts Options, guard *guarded, places *placeCache,
	turns chan<- turn) {
	defer close(turns)
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, name := range files {
		t := turn{name: name}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= aheadSize &&
			isPlain(name) {
			t.read = make(chan *recording, 1)
		}
		select {
		case turns <- t:
		case <-ctx.Done():
			return
		}
		if t.read == nil {
			continue
		}
		busy <- struct{}{}
		go func() {
			defer func() { <-busy }()
			r := &recording{wants: guard}
			readNamed(t.name, opts, &emitter{ctx: ctx, sink: r, apart: true}, places)
			t.read <- r
		}()
	}
}

// isPlain tells that a file is what its name says: a small archive may hold much, and is read as it is unpacked.
func isPlain(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// guarded lets several goroutines ask a sink what it wants.
type guarded struct {
	mu sync.Mutex
	Sink
}

// Want implements Sink.
func (g *guarded) Want(apiVersion, kind string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Sink.Want(apiVersion, kind)
}

// Document implements Sink.
func (g *guarded) Document(d Document) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Sink.Document(d)
}

// Listed implements Sink.
func (g *guarded) Listed(apiVersion, kind string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Sink.Listed(apiVersion, kind)
}

// Missing implements Sink.
func (g *guarded) Missing(group, kind, reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Sink.Missing(group, kind, reason)
}

// Problem implements Sink.
func (g *guarded) Problem(p Problem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Sink.Problem(p)
}

// Text implements TextSink.
func (g *guarded) Text(file string, line int, text []byte) {
	if s, ok := g.Sink.(TextSink); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		s.Text(file, line, text)
	}
}

// Scope implements PartSink.
func (g *guarded) Scope(scope Scope) {
	if s, ok := g.Sink.(PartSink); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		s.Scope(scope)
	}
}

// BrokeOff implements PartSink.
func (g *guarded) BrokeOff(reason string) {
	if s, ok := g.Sink.(PartSink); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		s.BrokeOff(reason)
	}
}

// recording keeps what was found in one file until its turn comes.
type recording struct {
	wants *guarded
	// uncounted tells that its problems count where they are handed on.
	uncounted bool
	events    []func(*emitter)
}

// Want implements Sink.
func (r *recording) Want(apiVersion, kind string) bool { return r.wants.Want(apiVersion, kind) }

// Document implements Sink.
func (r *recording) Document(d Document) {
	r.events = append(r.events, func(out *emitter) {
		d.Seq = out.seq
		out.seq++
		out.sink.Document(d)
	})
}

// Listed implements Sink.
func (r *recording) Listed(apiVersion, kind string) {
	r.events = append(r.events, func(out *emitter) { out.sink.Listed(apiVersion, kind) })
}

// Missing implements Sink.
func (r *recording) Missing(group, kind, reason string) {
	r.events = append(r.events, func(out *emitter) { out.sink.Missing(group, kind, reason) })
}

// Problem implements Sink.
func (r *recording) Problem(p Problem) {
	if r.uncounted {
		r.events = append(r.events, func(out *emitter) { out.problem(p.Line, p.Reason) })
		return
	}
	r.events = append(r.events, func(out *emitter) { out.sink.Problem(p) })
}

// Text implements TextSink.
func (r *recording) Text(file string, line int, text []byte) {
	r.events = append(r.events, func(out *emitter) { out.sink.(TextSink).Text(file, line, text) })
}

// Scope implements PartSink.
func (r *recording) Scope(scope Scope) {
	r.events = append(r.events, func(out *emitter) { out.sink.(PartSink).Scope(scope) })
}

// BrokeOff implements PartSink.
func (r *recording) BrokeOff(reason string) {
	r.events = append(r.events, func(out *emitter) { out.sink.(PartSink).BrokeOff(reason) })
}
