package source

import "fmt"

// Document is one Kubernetes object as it stood in the input.
type Document struct {
	APIVersion string
	Kind       string
	// JSON is the object as JSON, well-formed and valid UTF-8. It is the document's own copy, but must not
	// be changed: Origin may need it.
	JSON []byte
	// Origin is never nil.
	Origin *Origin
	// Seq is the place of the object in the whole input, from 0. Later objects overlay earlier ones.
	Seq int
}

// Namespace is the object's metadata.namespace, read from its JSON.
func (d Document) Namespace() string { return jsonString(d.JSON, "metadata", "namespace") }

// Name is the object's metadata.name, read from its JSON; of an object that is to be given a name, the beginning of it
// and *.
func (d Document) Name() string {
	if name := jsonString(d.JSON, "metadata", "name"); name != "" {
		return name
	}
	if begin := jsonString(d.JSON, "metadata", "generateName"); begin != "" {
		return begin + "*"
	}
	return ""
}

// Problem is a part of the input that could not be used. The rest of the input still is.
type Problem struct {
	// File and Line say where (Line 0: the whole file). For a live cluster File is empty and Where holds the request.
	File  string
	Line  int
	Where string
	// Reason is what is wrong and, where it helps, what to do.
	Reason string
}

// String renders the problem as `file:line: reason`, the form printed on standard error.
func (p Problem) String() string {
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
	case p.File != "":
		return fmt.Sprintf("%s: %s", p.File, p.Reason)
	case p.Where != "":
		return fmt.Sprintf("%s: %s", p.Where, p.Reason)
	}
	return p.Reason
}

// Error makes a Problem usable as an error.
func (p Problem) Error() string { return p.String() }

// TextSink is a Sink that is also shown the text of YAML inputs: comments are part of no object. The text begins on
// the given line of the file and must not be kept or changed.
type TextSink interface {
	Sink
	Text(file string, line int, text []byte)
}

// Sink receives what a reader finds. A reader calls it from one goroutine at a time.
type Sink interface {
	// Want tells whether objects of this kind are needed. Unwanted ones are not decoded.
	// The kind is that of a single object, never of a list.
	Want(apiVersion, kind string) bool
	// Document hands over one wanted object.
	Document(Document)
	// Listed says that the input held a list that is complete for a kind, even an empty one
	// (a typed list such as JobList, or a live list call). Coverage needs to know. The kind is that of the
	// objects (Job). A list with further pages, or of which a part could not be used, is not complete.
	Listed(apiVersion, kind string)
	// Missing says that a kind could not be listed from a live cluster, and why
	// (forbidden, not served).
	Missing(group, kind, reason string)
	// Problem reports a part of the input that could not be used.
	Problem(Problem)
}
