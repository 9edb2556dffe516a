// Package program builds the plugin once for a test binary, to test it as people run it.
//
// In: the module's source tree. Out: the path of the plugin, until the tests of the package end.
package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Name is the file name of the plugin.
const Name = "kubectl-gpu_quota"

var (
	once = sync.OnceValues(build)
	dir  string // holds the built plugin; empty until it is built
)

// Main runs the tests of a package that uses Path, and removes the plugin afterwards. Use it in TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if dir != "" {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// Path returns the path of the plugin, which the first call builds.
func Path(tb testing.TB) string {
	tb.Helper()
	path, err := once()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Root returns the root of the module's source tree, found from the directory a test runs in.
func Root(tb testing.TB) string {
	tb.Helper()
	root, err := findRoot()
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

func findRoot() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "cmd", Name)); err == nil {
			return at, nil
		}
		parent := filepath.Dir(at)
		if parent == at {
			return "", errors.New("not inside the source tree: no directory above holds cmd/" + Name)
		}
		at = parent
	}
}

func build() (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "gpu-quota-"); err != nil {
		return "", err
	}
	path := filepath.Join(dir, Name)
	cmd := exec.Command("go", "build", "-o", path, "./cmd/"+Name)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return path, nil
}

// Charges runs `charge -A -o json` with more arguments and returns what each job is charged.
// The key is namespace/name of the job.
func Charges(tb testing.TB, args ...string) map[string]Charge {
	tb.Helper()
	cmd := exec.Command(Path(tb), append([]string{"charge", "-A", "-o", "json"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	var list struct {
		Items []struct {
			Charge
			Owner struct{ Namespace, Name string }
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &list); err != nil {
		tb.Fatalf("%s: %v", cmd, err)
	}
	out := map[string]Charge{}
	for _, item := range list.Items {
		out[item.Owner.Namespace+"/"+item.Owner.Name] = item.Charge
	}
	return out
}

// Charge is what these tests read of one item of a ChargeList.
type Charge struct {
	Verdict   string
	Total     map[string]string
	Published map[string]string
	Problems  []struct{ Code, KueueMessage string }
	PodSets   []struct {
		Charges []struct{ Resource, Method, PerPod string }
	}
}

// Methods returns by which path each resource is charged.
func (c Charge) Methods() map[string]string {
	out := map[string]string{}
	for _, podSet := range c.PodSets {
		for _, line := range podSet.Charges {
			out[line.Resource] = line.Method
		}
	}
	return out
}
