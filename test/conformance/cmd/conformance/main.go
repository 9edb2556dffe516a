// Command conformance sets the program against Kueue on random clusters and prints where they differ.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	o := options{}
	flag.Uint64Var(&o.from, "from", 1, "the first seed")
	flag.Uint64Var(&o.count, "n", 1000, "the number of clusters")
	flag.DurationVar(&o.limit, "limit", 0, "stop after this time, whatever is left; 0 is no limit")
	flag.IntVar(&o.atleast, "atleast", 0, "fail if fewer clusters than this were compared")
	flag.IntVar(&o.runs, "runs", 8, "ask Kueue so often about a cluster on which the two differ, to see what it "+
		"leaves to chance")
	flag.IntVar(&o.most, "most", 0, "ask Kueue up to so often while the two differ all the same")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "clusters to compare at the same time")
	flag.IntVar(&o.show, "show", 5, "print so many differing clusters in full; all are counted")
	flag.BoolVar(&o.minimise, "minimise", true, "make the clusters shown as small as the difference allows")
	flag.StringVar(&o.cases, "cases", "", "write the clusters shown into this directory, as cases")
	flag.BoolVar(&o.plain, "plain", false, "leave out queues that are stopped, missing or choosy, to look at quota "+
		"alone")
	flag.IntVar(&o.tolerance, "tolerance", 0, "do not fail for so many differences; for versions in which an "+
		"arbitrary order decides")
	flag.StringVar(&o.ignore, "ignore", "", "aspects to leave out of the comparison while they are worked on, such "+
		"as pending,usage")
	flag.BoolVar(&o.again, "refresh", false, "compare nothing, but ask Kueue again about the cases in -cases")
	flag.StringVar(&o.modes, "modes", "pending,replay", "the modes to compare")
	flag.Parse()
	start := time.Now()
	run := o.run
	if o.again {
		run = func() (bool, error) { return false, o.refresh() }
	}
	failed, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	fmt.Printf("%s elapsed\n", time.Since(start).Round(time.Second))
	if failed {
		os.Exit(1)
	}
}
