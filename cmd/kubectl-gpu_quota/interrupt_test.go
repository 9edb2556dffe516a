//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/test/fleet"
)

// program is a run of the program in an empty directory.
type program struct {
	*exec.Cmd
	dir            string
	stdout, stderr bytes.Buffer
}

func newProgram(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command("kubectl-gpu_quota", args...), dir: t.TempDir()}
	p.Dir, p.Stdout, p.Stderr = p.dir, &p.stdout, &p.stderr
	p.Env = append(os.Environ(), "HOME="+p.dir, "TMPDIR="+p.dir, "KUBECONFIG="+filepath.Join(p.dir, "none"))
	return p
}

// left are the files that a run left in its directory, which is also the one for temporary files.
func (p *program) left(t *testing.T) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(p.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(p.dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(left, hidden...)
}

// interrupt sends the signal of Ctrl-C after a time. It reports false when the program had ended before.
func (p *program) interrupt(t *testing.T, after time.Duration) bool {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case <-ended:
		return false
	case <-time.After(after):
	}
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	// One second is what is promised; another is for a machine that is busy.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	select {
	case err := <-ended:
		var failed *exec.ExitError
		return errors.As(err, &failed)
	case <-ctx.Done():
		_ = p.Process.Kill()
		t.Fatalf("%s did not end within two seconds", p)
		return false
	}
}

func TestCtrlC(t *testing.T) {
	export := filepath.Join(t.TempDir(), "export.json")
	f, err := os.Create(export)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fleet.Write(f, fleet.Size{Nodes: 150, GPUs: 8, Workloads: 4000, Seed: 1}), f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Run("while input is waited for", func(t *testing.T) {
		p := newProgram(t, "charge", "--from", "-")
		in, out, err := os.Pipe() // nothing is ever written to it
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer out.Close()
		p.Stdin = in
		if !p.checkInterrupted(t, time.Second) {
			t.Error("it ended without input")
		}
	})
	for _, args := range [][]string{{"charge", "-A", "--from", export}, {"explain", "-A", "-o", "json", "--from", export}, {"queues", "--from", export}, {"lint", export}} {
		t.Run(args[0], func(t *testing.T) {
			interrupted := 0
			for _, after := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second} {
				// What was being printed when the signal came stays printed; the exit code says that it is not all.
				if p := newProgram(t, args...); p.checkInterrupted(t, after) && p.stdout.Len() == 0 {
					interrupted++
				}
			}
			if interrupted == 0 {
				t.Error("it had computed everything before it could be interrupted")
			}
		})
	}
}

func (p *program) checkInterrupted(t *testing.T, after time.Duration) bool {
	t.Helper()
	if !p.interrupt(t, after) {
		return false
	}
	if p.ProcessState.ExitCode() == -1 {
		return false // before it was there to notice
	}
	if got := p.stderr.String(); got != "error: interrupted\n" || p.ProcessState.ExitCode() != 2 {
		t.Errorf("interrupted after %v it ends with %d, says %q, and prints %d bytes", after, p.ProcessState.ExitCode(), got, p.stdout.Len())
	}
	if left := p.left(t); len(left) > 0 {
		t.Errorf("interrupted after %v it leaves %v", after, left)
	}
	return true
}
