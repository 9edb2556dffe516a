// Package demo is a small cluster to try the program on: an export of two nodes with partitioned
// A100 GPUs and one with whole H100 GPUs, two teams that share them through Kueue, and ten jobs in
// every state a job can be in.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Files is the export as a tree of YAML files.
func Files() fs.FS { return files }

// Export is the export as one stream of YAML documents, the files in the order of their names.
func Export() []byte {
	var out []byte
	names, _ := fs.Glob(files, "*.yaml") // the pattern is valid
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			continue // embedded files can always be read
		}
		out = append(out, "---\n"...)
		out = append(out, b...)
	}
	return out
}
