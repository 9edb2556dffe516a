package source

import "fmt"

// Origin tells where an object was read.
type Origin struct {
	// File is the path as the user gave it ("-" for standard input), empty for a live object.
	File string
	// Line is the 1-based line of the object's first byte in File; 0 for a live object.
	Line int
	// Cluster is the context (or server) a live object was read from.
	Cluster string
	// ResourceVersion of a live object.
	ResourceVersion string

	locate locator
}

// Position is a place in a file: 1-based line and column, with the end of the value (exclusive column).
// Columns count bytes.
type Position struct {
	Line, Column, EndLine, EndColumn int
}

// part is what is looked for at a path: the value there, or the key it stands under.
type part bool

const (
	theValue part = false
	theKey   part = true
)

// locator finds the position of a field of an object in the bytes it was read from.
type locator interface {
	position(path string, of part) (Position, bool)
	textOf(line int) (string, bool)
}

// Field returns where the value at a field path (for example
// `spec.template.spec.resourceClaims[0].resourceClaimTemplateName`) stands in the file.
// A map key that itself holds dots is written in brackets and quotes: `metadata.labels["kueue.x-k8s.io/queue-name"]`.
// When the path does not exist the deepest existing parent is returned. ok is false for live objects, and
// when the file has changed since it was read (a place found before stays as it was). The input is read
// again; asking for several fields of one object in a row reads it once. It may be called from several
// goroutines.
func (o *Origin) Field(path string) (pos Position, ok bool) {
	if o == nil || o.locate == nil {
		return Position{}, false
	}
	return o.locate.position(path, theValue)
}

// Key returns where the key of the last step of a field path stands, as [Origin.Field] does the value. Of a path that
// ends in an index, or does not exist, it is what Field returns.
func (o *Origin) Key(path string) (pos Position, ok bool) {
	if o == nil || o.locate == nil {
		return Position{}, false
	}
	return o.locate.position(path, theKey)
}

// Text returns a line of the file that the object stands on, without its line break, so that the columns of a
// [Position] apply to it. ok is false where [Origin.Field] is not ok, and for lines that are not the object's.
func (o *Origin) Text(line int) (text string, ok bool) {
	if o == nil || o.locate == nil {
		return "", false
	}
	return o.locate.textOf(line)
}

// String is `file:line`, or the cluster's name.
func (o *Origin) String() string {
	switch {
	case o == nil:
		return ""
	case o.File != "":
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.Cluster
}
