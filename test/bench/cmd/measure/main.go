// Command measure runs `charge`, `audit` and the yardstick on exports, each as a process of its own, and
// compares what they use:
//
//	measure -program bin/kubectl-gpu_quota -yardstick bin/baredecode -stages bin/stages EXPORT.json...
//
// A third process times the charging alone, without the reading before it. measure exits 1 when charge uses more than
// its limits. It links nothing but the standard library: the peak memory that the kernel reports for a child is never
// below what its parent used.
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

// The limits. The times are in units of the yardstick's, of user and system together: what several cores share counts
// once.
const (
	maxCPU      = 1.5 // of the whole process, reading JSON
	maxYAML     = 1.3 // and YAML
	maxCharging = 0.1 // of the charging alone
	maxMemory   = 3.0 // times the size of an export of JSON, above the memory of the program doing nothing
	maxGrowth   = 1.2 // time for each byte of the largest export, in units of that of the one before it
)

var errOverLimit = errors.New("more is used than the limits allow")

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
	fmt.Fprintf(table, "command\texport\tsize\tdecode CPU\tCPU\tratio\tlimit\tcores\tdecode peak\tpeak\tabove "+
		"idle\t× export\tlimit\t\n")
	var rows []row
	for _, export := range flags.Args() {
		compared, err := compare(o, export, idle)
		if err != nil {
			return err
		}
		for _, r := range compared {
			r.print(table)
		}
		rows = append(rows, compared...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "median of %d runs; CPU is user + system, cores is CPU / wall time; idle is the program "+
		"printing its help, which peaks at %.0f MB\n", o.runs, megabytes(idle.peak))
	over := grown(stdout, rows)
	for _, r := range rows {
		over = append(over, r.over()...)
	}
	for _, text := range over {
		fmt.Fprintln(stdout, "over the limit:", text)
	}
	if len(over) > 0 {
		return errOverLimit
	}
	return nil
}

// row is the comparison of one command on one export.
type row struct {
	command, export string
	size            int64
	decode, used    usage
	idle            int64
}

// commands are what is measured, with their arguments.
var commands = [][]string{{"charge", "-A"}, {"audit"}}

func compare(o options, export string, idle usage) ([]row, error) {
	info, err := os.Stat(export)
	if err != nil {
		return nil, err
	}
	decode, err := measure(o.runs, o.yardstick, export)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, command := range commands {
		r := row{command: command[0], export: filepath.Base(export), size: info.Size(), decode: decode, idle: idle.peak}
		if r.used, err = measure(o.runs, o.program, append(slices.Clone(command), "--from", export)...); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	if filepath.Ext(export) == ".yaml" {
		return rows, nil
	}
	alone, err := charging(o.runs, o.stages, export)
	return append(rows, row{command: charges, export: filepath.Base(export), size: info.Size(), decode: decode,
		used: usage{cpu: alone}}), err
}

// charges is the row of the charging alone, of which the memory is not known.
const charges = "charging alone"

func (r row) cpu() float64 { return r.used.cpu.Seconds() / r.decode.cpu.Seconds() }

func (r row) aboveIdle() int64 { return max(0, r.used.peak-r.idle) }

func (r row) memory() float64 { return float64(r.aboveIdle()) / float64(r.size) }

// limits are those of the time and of the memory; 0: none.
func (r row) limits() (cpu, memory float64) {
	switch {
	case r.command == charges:
		return maxCharging, 0
	case filepath.Ext(r.export) == ".yaml":
		return maxYAML, 0
	}
	return maxCPU, maxMemory
}

// over tells which limits a row exceeds.
func (r row) over() (out []string) {
	cpu, memory := r.limits()
	if r.cpu() > cpu {
		out = append(out,
			fmt.Sprintf("%s of %s takes %.2f times the decode, more than %.1f", r.command, r.export, r.cpu(), cpu))
	}
	if memory > 0 && r.memory() > memory {
		out = append(out,
			fmt.Sprintf("%s of %s takes %.2f times the export, more than %.1f", r.command, r.export, r.memory(),
				memory))
	}
	return out
}

// grown prints, for each command, how its time for a byte grows from one export of JSON to the next, and tells where it
// grows too much.
func grown(w io.Writer, rows []row) (over []string) {
	last := map[string]row{}
	for _, r := range rows {
		if filepath.Ext(r.export) == ".yaml" {
			continue
		}
		if before, ok := last[r.command]; ok {
			larger := float64(r.size) / float64(before.size)
			growth := r.used.cpu.Seconds() / before.used.cpu.Seconds() / larger
			text := fmt.Sprintf("%s of %s takes %.2f times as long for each byte as that of %s, which is %.1f times "+
				"smaller", r.command, r.export, growth, before.export, larger)
			fmt.Fprintln(w, text)
			if growth > maxGrowth {
				over = append(over, text)
			}
		}
		last[r.command] = r
	}
	return over
}

func (r row) print(w io.Writer) {
	cpu, memory := r.limits()
	fmt.Fprintf(w, "%s\t%s\t%.1f MB\t%.2f s\t%.2f s\t%.2f\t%.1f\t", r.command, r.export, megabytes(r.size),
		r.decode.cpu.Seconds(), r.used.cpu.Seconds(), r.cpu(), cpu)
	if r.command == charges {
		fmt.Fprint(w, "\t\t\t\t\t\t\n")
		return
	}
	fmt.Fprintf(w, "%.1f\t%.0f MB\t%.0f MB\t%.0f MB\t%.2f\t", r.used.cpu.Seconds()/r.used.wall.Seconds(),
		megabytes(r.decode.peak), megabytes(r.used.peak), megabytes(r.aboveIdle()), r.memory())
	if memory > 0 {
		fmt.Fprintf(w, "%.1f", memory)
	}
	fmt.Fprint(w, "\t\n")
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

// usage is what one process took of the machine.
type usage struct {
	cpu, wall time.Duration
	// peak of the resident memory, in bytes.
	peak int64
}

// measure runs a command and returns the median of its processor time and of its peak memory.
func measure(runs int, name string, args ...string) (usage, error) {
	cpus, walls, peaks := make([]time.Duration, 0, runs), make([]time.Duration, 0, runs), make([]int64, 0, runs)
	for range runs {
		cmd := exec.Command(name, args...) // its output goes nowhere
		cmd.Stderr = os.Stderr
		begun := time.Now()
		if err := cmd.Run(); err != nil {
			return usage{}, fmt.Errorf("%s: %w", cmd, err)
		}
		resources, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return usage{}, errors.New("this system does not report what a process used")
		}
		walls = append(walls, time.Since(begun))
		cpus = append(cpus, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		peaks = append(peaks, resources.Maxrss*maxrssUnit)
	}
	slices.Sort(cpus)
	slices.Sort(peaks)
	slices.Sort(walls)
	return usage{cpus[runs/2], walls[runs/2], peaks[runs/2]}, nil
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
