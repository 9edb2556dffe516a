// Command measure runs `charge` and the yardstick on exports, each as a process of its own, and
// compares what they use:
//
//	measure -program bin/kubectl-gpu_quota -yardstick bin/baredecode -stages bin/stages EXPORT.json...
//
// A third process times the charging alone, without the reading before it. measure exits 1 when charge uses more than its limits. It links nothing but the standard library: the
// peak memory that the kernel reports for a child is never below what its parent used.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// The limits of charge. The times are in units of the yardstick's.
const (
	maxCPU      = 1.5 // of the whole process
	maxCharging = 0.1 // of the charging alone
	maxMemory   = 5.0 // times the size of the export, above the memory of the program doing nothing
)

var errOverLimit = errors.New("charge uses more than its limits")

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		if errors.Is(err, errOverLimit) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

type options struct {
	program, yardstick, stages string
	runs                       int
}

func run(args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.program, "program", "bin/kubectl-gpu_quota", "the program to measure")
	flags.StringVar(&o.yardstick, "yardstick", "bin/baredecode", "the bare decode to compare it with")
	flags.StringVar(&o.stages, "stages", "bin/stages", "the program that times the charging alone")
	flags.IntVar(&o.runs, "runs", 5, "runs of each; the median counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 || o.runs < 1 {
		return errors.New("name at least one export, and at least one run")
	}
	idle, err := measure(o.runs, o.program, "version", "--help")
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "export\tsize\tdecode CPU\tcharge CPU\tratio\tcharging alone\tratio\tdecode peak\tcharge peak\tabove idle\t× export\t\n")
	fmt.Fprintf(table, "limit\t\t\t\t%.1f\t\t%.1f\t\t\t\t%.1f\t\n", maxCPU, maxCharging, maxMemory)
	within := true
	for _, export := range flags.Args() {
		row, err := compare(o, export, idle)
		if err != nil {
			return err
		}
		row.print(table)
		within = within && row.within()
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "median of %d runs; CPU is user + system; idle is the program printing its help, which peaks at %.0f MB\n", o.runs, megabytes(idle.peak))
	if !within {
		return errOverLimit
	}
	return nil
}

// row is the comparison on one export.
type row struct {
	export         string
	size           int64
	decode, charge usage
	charging       time.Duration
	idle           int64
}

func compare(o options, export string, idle usage) (row, error) {
	info, err := os.Stat(export)
	if err != nil {
		return row{}, err
	}
	r := row{export: filepath.Base(export), size: info.Size(), idle: idle.peak}
	if r.decode, err = measure(o.runs, o.yardstick, export); err != nil {
		return row{}, err
	}
	if r.charge, err = measure(o.runs, o.program, "charge", "-A", "--from", export); err != nil {
		return row{}, err
	}
	r.charging, err = charging(o.runs, o.stages, export)
	return r, err
}

func (r row) cpu() float64 { return r.charge.cpu.Seconds() / r.decode.cpu.Seconds() }

func (r row) share() float64 { return r.charging.Seconds() / r.decode.cpu.Seconds() }

func (r row) aboveIdle() int64 { return max(0, r.charge.peak-r.idle) }

func (r row) memory() float64 { return float64(r.aboveIdle()) / float64(r.size) }

func (r row) within() bool {
	return r.cpu() <= maxCPU && r.share() <= maxCharging && r.memory() <= maxMemory
}

func (r row) print(w io.Writer) {
	fmt.Fprintf(w, "%s\t%.1f MB\t%.2f s\t%.2f s\t%.2f\t%.3f s\t%.2f\t%.0f MB\t%.0f MB\t%.0f MB\t%.2f\t\n",
		r.export, megabytes(r.size), r.decode.cpu.Seconds(), r.charge.cpu.Seconds(), r.cpu(), r.charging.Seconds(), r.share(),
		megabytes(r.decode.peak), megabytes(r.charge.peak), megabytes(r.aboveIdle()), r.memory())
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

// usage is what one process took of the machine.
type usage struct {
	cpu time.Duration
	// peak of the resident memory, in bytes.
	peak int64
}

// measure runs a command and returns the median of its processor time and of its peak memory.
func measure(runs int, name string, args ...string) (usage, error) {
	cpus, peaks := make([]time.Duration, 0, runs), make([]int64, 0, runs)
	for range runs {
		cmd := exec.Command(name, args...) // its output goes nowhere
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return usage{}, fmt.Errorf("%s: %w", cmd, err)
		}
		resources, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return usage{}, errors.New("this system does not report what a process used")
		}
		cpus = append(cpus, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		peaks = append(peaks, resources.Maxrss*maxrssUnit)
	}
	slices.Sort(cpus)
	slices.Sort(peaks)
	return usage{cpus[runs/2], peaks[runs/2]}, nil
}

// charging runs the program that times the charging alone, and returns the median of the times it prints.
func charging(runs int, name, export string) (time.Duration, error) {
	times := make([]time.Duration, 0, runs)
	for range runs {
		cmd := exec.Command(name, export)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", cmd, err)
		}
		t, err := time.ParseDuration(strings.TrimSpace(string(out)))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", cmd, err)
		}
		times = append(times, t)
	}
	slices.Sort(times)
	return times[runs/2], nil
}
