package cluster

import (
	"cmp"
	"hash/maphash"
	"sync"
)

// part remembers what a piece of JSON text decodes to: equal text gives the same value, which is shared and must not be
// changed.
type part[T any] struct {
	// fast decodes the usual text without reflection. It reports false for text that it leaves to the decoder of all
	// types.
	fast func([]byte) (T, bool)
	// limit is how many texts are remembered, 0: maxParts.
	limit int

	mu    sync.RWMutex
	known map[digest]T
}

// digest stands for a text: 128 bits of a hash that no input can know. The texts themselves would take much memory.
type digest [2]uint64

var digestSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(text []byte) digest {
	return digest{maphash.Bytes(digestSeeds[0], text), maphash.Bytes(digestSeeds[1], text)}
}

// maxParts bounds the memory of a part against input that never repeats itself.
const maxParts = 1 << 20

func (p *part[T]) decode(text []byte) (T, error) {
	var value T
	if len(text) == 0 || string(text) == "null" {
		return value, nil
	}
	key := digestOf(text)
	p.mu.RLock()
	known, ok := p.known[key]
	p.mu.RUnlock()
	if ok {
		return known, nil
	}
	if p.fast != nil {
		value, ok = p.fast(text)
	}
	if !ok {
		if err := unmarshal(text, &value); err != nil {
			return value, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[digest]T{}
	}
	if known, ok := p.known[key]; ok {
		return known, nil
	}
	if len(p.known) < cmp.Or(p.limit, maxParts) {
		p.known[key] = value
	}
	return value, nil
}

// interned holds one copy of what each of the texts that many objects repeat stands for.
type interned[T any] struct {
	// make makes the copy. It reports false for a text that stands for nothing.
	make func(text string) (*T, bool)

	mu    sync.RWMutex
	known map[string]*T
}

// of is the one copy for a text.
func (w *interned[T]) of(text []byte) (*T, bool) {
	w.mu.RLock()
	known, ok := w.known[string(text)]
	w.mu.RUnlock()
	if ok {
		return known, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.known[string(text)]; ok {
		return known, true
	}
	word := string(text)
	made, ok := w.make(word)
	if !ok {
		return nil, false
	}
	if w.known == nil {
		w.known = map[string]*T{}
	}
	if len(w.known) < maxParts {
		w.known[word] = made
	}
	return made, true
}
