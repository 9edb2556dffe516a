// Package e2e runs the plugin, through a real kubectl, against a real control plane with a real Kueue, and
// holds its answers to what Kueue decided. See controlplane for how that is built and started.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

const (
	pluginName = "kubectl-gpu_quota"
	// root is the plugin's source tree, seen from here.
	root = "../.."
	// soon is how long anything but a build may take, on a busy machine.
	soon = 2 * time.Minute
)

// distribution and pluginDir are made before the first test and never change.
var (
	distribution *controlplane.Distribution
	pluginDir    string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if distribution, err = controlplane.Build(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if pluginDir, err = os.MkdirTemp("", "gpu-quota-plugin-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(pluginDir)
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(pluginDir, pluginName), "./cmd/"+pluginName)
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, build, err)
		return 1
	}
	code := m.Run()
	shared.cp.Stop()
	return code
}

// shared is the control plane that tests use one after another. Each leaves it without jobs, queues and devices.
var shared struct {
	once          sync.Once
	cp            *controlplane.ControlPlane
	err           error
	configuration string
}

// sharedControlPlane returns the control plane with a Kueue that runs with this Configuration.
func sharedControlPlane(t testing.TB, configuration string) *controlplane.ControlPlane {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		shared.cp, shared.err = controlplane.Start(ctx, distribution, controlplane.Options{})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	if configuration != shared.configuration {
		if err := shared.cp.StartKueue(short(t), []byte(configuration)); err != nil {
			t.Fatal(err)
		}
		shared.configuration = configuration
	}
	return shared.cp
}

// ownControlPlane starts a control plane for one test.
func ownControlPlane(t testing.TB, opts controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	cp, err := controlplane.Start(short(t), distribution, opts)
	t.Cleanup(cp.Stop)
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// short is a context that ends soon.
func short(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return ctx
}

// read returns the content of files, put together as YAML documents.
func read(t testing.TB, files ...string) string {
	t.Helper()
	var texts []string
	for _, file := range files {
		content, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(content))
	}
	return strings.Join(texts, "\n---\n")
}
