// Command baredecode is the yardstick as a process: it reads an export and decodes it.
package main

import (
	"fmt"
	"os"

	"github.com/gpu-quota/kubectl-gpu-quota/test/bench"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: baredecode EXPORT.json")
		os.Exit(2)
	}
	export, err := os.ReadFile(os.Args[1])
	if err == nil {
		var objects []any
		if objects, err = bench.Decode(export); err == nil {
			fmt.Println(len(objects), "objects")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "baredecode:", err)
		os.Exit(1)
	}
}
