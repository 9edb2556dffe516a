// Command baredecode is the yardstick as a process: it reads an export and decodes it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpu-quota/kubectl-gpu-quota/test/bench"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: baredecode EXPORT")
		os.Exit(2)
	}
	export, err := os.ReadFile(os.Args[1])
	if err == nil {
		var objects []any
		decode := bench.Decode
		if filepath.Ext(os.Args[1]) == ".yaml" {
			decode = bench.DecodeYAML
		}
		if objects, err = decode(export); err == nil {
			fmt.Println(len(objects), "objects")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "baredecode:", err)
		os.Exit(1)
	}
}
