package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// wire carries the connections of one program to the API server, and counts what comes back.
type wire struct {
	net.Listener
	server string
	// cutAfter is how many bytes come back before cut is called, once.
	cutAfter int64
	cut      func()

	carried atomic.Int64
	once    sync.Once
}

// newWire begins to carry, until the test ends.
func newWire(t *testing.T, server string, cutAfter int64, cut func()) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, server: strings.TrimPrefix(server, "https://"), cutAfter: cutAfter, cut: cut}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(near)
		}
	}()
	return w
}

func (w *wire) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", w.server)
	if err != nil {
		return // the server is gone, which is what its client is to find out
	}
	defer far.Close()
	go func() { _, _ = io.Copy(far, near) }()
	_, _ = io.Copy(near, io.TeeReader(far, w))
}

// Write counts what is on its way to the client.
func (w *wire) Write(p []byte) (int, error) {
	if w.carried.Add(int64(len(p))) > w.cutAfter {
		w.once.Do(w.cut)
	}
	return len(p), nil
}

func (w *wire) url() string { return "https://" + w.Addr().String() }

// An API server that is killed in the middle of a run leaves no answer that could be taken for a whole one.
func TestTheAPIServerIsKilled(t *testing.T) {
	const workloads = 1200 // three pages
	cp := aFleet(t, 8, workloads)
	explain := func(cutAfter int64, cut func()) (result, int64) {
		w := newWire(t, cp.Server(), cutAfter, cut)
		kubeconfig := write(t, "kubeconfig", cp.KubeconfigFor(w.url(), controlplane.Admin))
		return kubectl(t, kubeconfig, "gpu-quota", "explain", "-A", "-o", "name"), w.carried.Load()
	}
	whole, carried := explain(1<<60, func() {})
	if n := strings.Count(whole.stdout, "workload.kueue.x-k8s.io/"); n != workloads || whole.code != 0 {
		t.Fatalf("exit %d, %d workloads, want %d; stderr %q", whole.code, n, workloads, whole.stderr)
	}
	for _, percent := range []int64{10, 50, 95} {
		t.Run(fmt.Sprintf("after %d%% of the answers", percent), func(t *testing.T) {
			r, _ := explain(carried*percent/100, cp.KillAPIServer)
			if r.code != 2 || r.stdout != "" || !strings.HasPrefix(r.stderr, "error: cannot read from the API server") {
				t.Errorf("exit %d, %d bytes on stdout, stderr %q; want exit 2, nothing on stdout and an error", r.code, len(r.stdout), r.stderr)
			}
			if err := cp.StartAPIServer(short(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
	if again, _ := explain(1<<60, func() {}); again.stdout != whole.stdout {
		t.Error("after the API server came back, the answer is another one")
	}
}
