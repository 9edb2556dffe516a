package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// readyWithin is how long a program may take until it serves, on a busy machine.
	readyWithin = 90 * time.Second
	// stopWithin is how long a program may take to end by itself. kube-apiserver waits for its etcd longer.
	stopWithin = 3 * time.Second
	// pollEvery is the pause between two looks whether something has happened.
	pollEvery = 100 * time.Millisecond
)

// process is a running program whose output goes to a file.
type process struct {
	name, log string
	cmd       *exec.Cmd
	ended     chan struct{}
}

// launch starts a program with its own directory for temporary files.
func launch(dir, name, path string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.Env = append(os.Environ(), "TMPDIR="+dir, "KUBECONFIG="+filepath.Join(dir, adminKubeconfig))
	p.cmd.SysProcAttr = diesWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		// How it ended is in its log; that it ended is all there is to know here.
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// awaitReady asks until there is no error. It gives up when the program has ended, with the end of its log.
func (p *process) awaitReady(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	err := Until(ctx, func(ctx context.Context) error {
		select {
		case <-p.ended:
			return Stop(errors.New("it has ended"))
		default:
			return ask(ctx)
		}
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w\n%s", p.name, err, p.tail())
	}
	return nil
}

// stop ends the program and waits until it is gone.
func (p *process) stop() {
	if p == nil {
		return
	}
	// A program that has ended already can't be signalled, which is as good.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopWithin):
		p.kill()
	}
}

// kill ends the program without giving it time for anything.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// tail is the end of the program's log.
func (p *process) tail() string {
	const most = 3000
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	if len(content) > most {
		content = content[len(content)-most:]
		if _, rest, ok := bytes.Cut(content, []byte("\n")); ok {
			content = rest
		}
	}
	return string(content)
}

// stopped is an error after which asking again is of no use.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

// Stop makes Until return the error at once.
func Stop(err error) error { return stopped{err} }

// Until calls ask until it returns no error, or the context ends; then the last error is returned that came before.
func Until(ctx context.Context, ask func(context.Context) error) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var last error
	for {
		err := ask(ctx)
		var final stopped
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final):
			return final.error
		case ctx.Err() == nil || last == nil:
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; before that: %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}

// freePorts returns ports of 127.0.0.1 that nothing listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// All are held until the last is found, so that they differ.
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
