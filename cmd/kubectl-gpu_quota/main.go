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

func run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, cli.ProcessEnv(), os.Args[1:])
}
