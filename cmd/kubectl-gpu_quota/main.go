// Command kubectl-gpu_quota is a kubectl plugin (kubectl gpu-quota) that says what Kueue charges
// workloads against GPU quota, and why.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cli"
)

func main() { os.Exit(run()) }

// gcPercent trades a little processor time for memory: nearly all that is read stays in use, so a heap
// twice that size, as Go allows itself by default, would be half empty.
const gcPercent = 50

// lintPercent is that of lint, which reads manifests: they are small, and it is run before every commit. lintMemory is the heap
// from which on memory counts more than time again, as for an export of a whole cluster.
const (
	lintPercent = 400
	lintMemory  = 512 << 20
)

func run() int {
	if os.Getenv("GOGC") == "" {
		percent := gcPercent
		if len(os.Args) > 1 && os.Args[1] == "lint" {
			percent = lintPercent
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(lintMemory)
			}
		}
		debug.SetGCPercent(percent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, cli.ProcessEnv(), os.Args[1:])
}
