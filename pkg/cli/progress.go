package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

const (
	// quietFor is how long a reading may take before anything is said of it.
	quietFor = time.Second
	// saidEvery is the pause between two lines of progress.
	saidEvery = 250 * time.Millisecond
)

// showProgress says on standard error, when that is a terminal, how far a reading is that takes long. The
// function it returns ends that and leaves no trace on the screen.
func showProgress(env Env, p *source.Progress) (stop func()) {
	if _, terminal := env.TerminalWidth(env.ErrOut); !terminal {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		timer := time.NewTimer(quietFor)
		defer timer.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(env.ErrOut, eraseLine)
				}
				return
			case <-timer.C:
				sayProgress(env.ErrOut, p)
				timer.Reset(saidEvery)
			}
		}
	}()
	return func() { close(done); <-ended }
}

// eraseLine goes to the start of the line and empties it.
const eraseLine = "\r\x1b[K"

func sayProgress(w io.Writer, p *source.Progress) {
	read, asked := p.Kinds()
	fmt.Fprintf(w, eraseLine+"reading the cluster: %d of %d kinds, %d objects", read, asked, p.Objects())
}
