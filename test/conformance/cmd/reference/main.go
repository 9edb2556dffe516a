// Command reference prints what the real Kueue decides about a dump, in the shape of the program's
// SimulationResult.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/reference"
)

func main() {
	dump := flag.String("dump", "-", "the dump to read; - is the standard input")
	replay := flag.Bool("replay", false, "let every Workload arrive anew, one at a time")
	next := flag.Bool("next", true, "say what a scheduling attempt of each pending Workload decides in the present "+
		"state")
	idle := flag.Uint64("idle", 0, "the seed of a run in which a workload that is tried for ever by turns is met at "+
		"any of its turns; 0 for none")
	flag.Parse()
	if err := run(*dump, reference.Options{Replay: *replay, Next: *next, Idle: *idle}); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(2)
	}
}

func run(dump string, options reference.Options) error {
	text, err := read(dump)
	if err != nil {
		return err
	}
	cluster, err := objects.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", dump, err)
	}
	result, err := reference.Run(cluster, options)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(result)
}

func read(dump string) ([]byte, error) {
	if dump == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(dump)
}
