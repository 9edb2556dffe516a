// Command fleetgen writes the export of an imaginary GPU cluster:
//
//	fleetgen -nodes 64 -gpus 8 -workloads 200 -o export.json
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gpu-quota/kubectl-gpu-quota/test/fleet"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "fleetgen:", err)
		os.Exit(2)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	size := fleet.Small
	flags := flag.NewFlagSet("fleetgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&size.Nodes, "nodes", size.Nodes, "nodes with GPUs")
	flags.IntVar(&size.GPUs, "gpus", size.GPUs, "GPUs on each node, 1 to 8")
	flags.IntVar(&size.Workloads, "workloads", size.Workloads, "workloads, each with its Job")
	flags.Uint64Var(&size.Seed, "seed", size.Seed, "which of the many fleets of that size")
	output := flags.String("o", "-", "file to write, as YAML if its name says so; - for JSON on standard output")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *output == "-" {
		return fleet.Write(stdout, size)
	}
	file, err := os.Create(*output)
	if err != nil {
		return err
	}
	write := fleet.Write
	if filepath.Ext(*output) == ".yaml" {
		write = fleet.WriteYAML
	}
	if err := write(file, size); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
