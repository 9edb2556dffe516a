// Package source turns bytes into Kubernetes objects that remember where they came from.
//
// In: files, directories, globs, standard input, and the list endpoints of a live cluster.
// Out: one [Document] per object, in input order, as JSON with its apiVersion, kind and [Origin]
// (file and line, or cluster), and a [Problem] for every part of the input that could not be read.
// Reading is streaming: a JSON list is never held whole, and a kind that nobody wants is
// recognised and skipped without being decoded.
//
// Formats: YAML (several documents), JSON, NDJSON, `kind: List` and typed lists such as `JobList`.
package source
