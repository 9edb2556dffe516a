// Command kubectl-gpu_quota is a kubectl plugin (kubectl gpu-quota) that says what Kueue charges
// workloads against GPU quota, and why.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cli"
)

func main() { os.Exit(run()) }

func run() int {
	pace := &pacer{most: roomyPercent}
	if len(os.Args) > 1 && os.Args[1] == "lint" {
		pace.most = lintPercent
		pace.budget.Store(lintHeap)
	}
	paceGC(pace)
	env := cli.ProcessEnv()
	env.Reads = pace.reads
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, env, os.Args[1:])
}
