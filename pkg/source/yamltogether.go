package source

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// batchSize is the text that is converted at once by one of several goroutines. Less is converted by the reader itself.
const batchSize = 128 << 10

// batchesSize and maxDocuments are how much of a stream of documents is split before it is read.
const batchesSize, maxDocuments = 8 << 20, 1 << 16

// batches groups parts of a text that follow each other, up to a size.
func batches(parts []chunk, most int) (out [][]chunk) {
	from, size := 0, 0
	for i, part := range parts {
		if size += part.end - part.start; size >= most || i == len(parts)-1 {
			out = append(out, parts[from:i+1])
			from, size = i+1, 0
		}
	}
	return out
}

// together reads parts of the text, several batches of them at a time, and tells what is in them in their order. It
// reports whether read said of each batch that all of it could be used.
func (y *yamlReader) together(parts []chunk, read func(*yamlReader, []chunk) bool) (whole bool) {
	work := batches(parts, y.in.out.batchSize())
	if len(work) < 2 || y.in.out.apart {
		return read(y, parts)
	}
	out := y.in.out
	guard, guards := out.sink.(*guarded)
	if !guards {
		guard = &guarded{Sink: out.sink}
		out.sink = guard
		defer func() { out.sink = guard.Sink }()
	}
	ctx, stop := context.WithCancel(out.ctx)
	var running sync.WaitGroup
	turns := make(chan chan batch, 2*runtime.GOMAXPROCS(0))
	running.Go(func() {
		defer close(turns)
		busy := make(chan struct{}, runtime.GOMAXPROCS(0))
		for _, parts := range work {
			turn := make(chan batch, 1)
			select {
			case turns <- turn:
			case <-ctx.Done():
				return
			}
			busy <- struct{}{}
			running.Go(func() {
				defer func() { <-busy }()
				found := &recording{wants: guard, uncounted: true}
				turn <- batch{found, read(y.apart(ctx, found), parts)}
			})
		}
	})
	// Nobody asks the sink any more when this returns.
	defer running.Wait()
	defer stop()
	whole = true
	for turn := range turns {
		b := <-turn
		whole = whole && b.whole
		for _, hand := range b.found.events {
			if out.full() {
				return false
			}
			hand(out)
		}
	}
	return whole && out.ctx.Err() == nil
}

// batch is what was found in one.
type batch struct {
	found *recording
	whole bool
}

// apart is a reader of the same text that tells another sink what it finds, from a goroutine of its own.
func (y *yamlReader) apart(ctx context.Context, sink Sink) *yamlReader {
	in, mine := *y.in, *y
	in.out = &emitter{ctx: ctx, sink: sink, file: y.in.out.file, apart: true, uncounted: true}
	mine.in = &in
	return &mine
}

// documents reads documents of a stream, large ones one after another: the items of a list are read together.
func (y *yamlReader) documents(docs []chunk) {
	for len(docs) > 0 && !y.in.out.full() {
		n := slices.IndexFunc(docs, func(c chunk) bool { return c.end-c.start >= y.in.out.batchSize() })
		switch {
		case n == 0:
			y.document(docs[0])
			docs = docs[1:]
			continue
		case n < 0:
			n = len(docs)
		}
		y.together(docs[:n], func(y *yamlReader, docs []chunk) bool {
			for _, doc := range docs {
				if y.in.out.full() {
					return false
				}
				y.document(doc)
			}
			return true
		})
		docs = docs[n:]
	}
}
