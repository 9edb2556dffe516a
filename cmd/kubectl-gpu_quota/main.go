// Command kubectl-gpu_quota is a kubectl plugin (kubectl gpu-quota) that says what Kueue charges
// workloads against GPU quota, and why.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cli"
)

func main() { os.Exit(run()) }

// patience is how long an interrupted command may take to end by itself.
const patience = 400 * time.Millisecond

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
	// What is busy with a large cluster when it is interrupted has nothing to lose.
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(patience, func() {
			fmt.Fprintln(os.Stderr, cli.Interrupted)
			os.Exit(cli.ExitUnusable)
		})
	})()
	return cli.Run(ctx, env, os.Args[1:])
}
