package lint

import (
	"bytes"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Collector is a source.Sink that hands everything on and keeps the documents that never passed an API server, for the
// rules about their shape.
type Collector struct {
	source.Sink
	Documents []source.Document
	// Suppressions are the comments and annotations that suppress findings.
	Suppressions []Suppression
	// Keep names the kinds of which every document is kept, also those that passed an API server; nil keeps none.
	Keep func(apiVersion, kind string) bool
	// Kept are those documents.
	Kept  []source.Document
	files map[string]bool
}

// NewCollector puts a Collector before a sink.
func NewCollector(next source.Sink) *Collector {
	return &Collector{Sink: next, files: map[string]bool{}}
}

// uid is what the API server gives every object.
var uid = []byte(`"uid":`)

// Document implements source.Sink.
func (c *Collector) Document(d source.Document) {
	if d.Origin != nil && d.Origin.File != "" {
		c.files[d.Origin.File] = true
		if !bytes.Contains(d.JSON, uid) {
			c.Documents = append(c.Documents, d)
		}
	}
	if bytes.Contains(d.JSON, ignoreAnnotationName) {
		c.Suppressions = append(c.Suppressions, annotated(&d)...)
	}
	if c.Keep != nil && c.Keep(d.APIVersion, d.Kind) {
		c.Kept = append(c.Kept, d)
	}
	c.Sink.Document(d)
}

// Text implements source.TextSink: comments are read from it.
func (c *Collector) Text(file string, line int, text []byte) {
	c.Suppressions = append(c.Suppressions, commented(file, line, text)...)
}

// Scope implements source.PartSink.
func (c *Collector) Scope(scope source.Scope) {
	if s, ok := c.Sink.(source.PartSink); ok {
		s.Scope(scope)
	}
}

// BrokeOff implements source.PartSink.
func (c *Collector) BrokeOff(reason string) {
	if s, ok := c.Sink.(source.PartSink); ok {
		s.BrokeOff(reason)
	}
}

// Problem implements source.Sink.
func (c *Collector) Problem(p source.Problem) {
	if p.File != "" {
		c.files[p.File] = true
	}
	c.Sink.Problem(p)
}

// Has tells that an object or problem came from a file.
func (c *Collector) Has(file string) bool { return c.files[file] }

// Files counts the files that objects or problems came from.
func (c *Collector) Files() int { return len(c.files) }
