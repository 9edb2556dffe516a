// Package source turns bytes into Kubernetes objects that remember where they came from.
//
// In: files, directories, globs, standard input, and the list endpoints of a live cluster.
// Out: one [Document] per object, in input order, as JSON with its apiVersion, kind and [Origin]
// (file and line, or cluster), and a [Problem] for every part of the input that could not be read.
//
// Input may come packed: compressed, in an archive, in an archive inside an archive. Nothing is written
// anywhere, no link is followed, and what comes out is bounded by what went in.
//
// The layouts of must-gather trees and cluster-info dumps are known by their paths: a [PartSink] is told which
// part of the cluster a file tells of, and when an input broke off.
//
// Formats: YAML (several documents), JSON, NDJSON, `kind: List` and typed lists such as `JobList`,
// told apart by content, not by name.
//
// JSON is read streaming: a window slides over the input, every byte is checked once, and one object at a
// time is copied out, if the [Sink] wants its kind. YAML is held as text, split into documents and list
// items without being parsed, and converted to JSON object by object, with the meaning it has to kubectl.
// [Origin.Field] finds the place of a field later, by reading the object's part of the input again.
package source
