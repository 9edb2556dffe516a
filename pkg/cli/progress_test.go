package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// screen is a terminal that tells when something is written to it.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
	once    sync.Once
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once.Do(func() { close(s.written) })
	return s.text.Write(p)
}

func TestALongReadingSaysHowFarItIs(t *testing.T) {
	terminal := &screen{written: make(chan struct{})}
	api := apiHandler(t, testdata(t, "cluster.yaml"))
	// The Workloads come when the user has been told what takes so long.
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/workloads") {
			<-terminal.written
		}
		api.ServeHTTP(w, r)
	}))
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	var out bytes.Buffer
	env := Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: terminal}, Now: time.Now,
		Getenv:        func(string) string { return "" },
		TerminalWidth: func(w io.Writer) (int, bool) { return 80, w == io.Writer(terminal) },
	}
	if code := Run(context.Background(), env, []string{"charge", "-n", "team-a", "--server", server.URL}); code != 0 {
		t.Fatalf("exit %d: %s", code, &terminal.text)
	}
	said := terminal.text.String()
	if !strings.Contains(said, "reading the cluster: ") || !strings.Contains(said, " kinds, ") || !strings.HasSuffix(said, eraseLine) {
		t.Errorf("the terminal shows %q", said)
	}
	if !strings.Contains(out.String(), "job/train") {
		t.Errorf("stdout:\n%s", &out)
	}
}

func TestAShortReadingSaysNothing(t *testing.T) {
	server := apiServer(t, testdata(t, "cluster.yaml"))
	if _, errOut, code := run(t, "charge", "-n", "team-a", "--server", server.URL); errOut != "" || code != 0 {
		t.Errorf("exit %d, stderr %q", code, errOut)
	}
}
