// Command stages reads an export and charges it, and prints the processor time of the charging alone.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/test/bench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "stages:", err)
		os.Exit(2)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: stages EXPORT.json")
	}
	snap, err := bench.Load(os.Args[1])
	if err != nil {
		return err
	}
	runtime.GC() // what reading left behind is not charged to charging
	start, err := cpu()
	if err != nil {
		return err
	}
	charges, err := bench.Charges(snap)
	if err != nil {
		return err
	}
	end, err := cpu()
	if err != nil {
		return err
	}
	fmt.Println(end - start)
	runtime.KeepAlive(charges)
	return nil
}

// cpu is the processor time this process has used, of all its threads.
func cpu() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}
