package controlplane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// The modules whose versions a control plane is known by.
const (
	kubernetesModule = "k8s.io/kubernetes"
	kueueModule      = "sigs.k8s.io/kueue"
)

// programs are the packages that are built, and the names they get.
var programs = map[string]string{
	"go.etcd.io/etcd/server/v3":                     "etcd",
	"k8s.io/kubernetes/cmd/kube-apiserver":          "kube-apiserver",
	"k8s.io/kubernetes/cmd/kube-controller-manager": "kube-controller-manager",
	"k8s.io/kubernetes/cmd/kube-scheduler":          "kube-scheduler",
	"k8s.io/kubernetes/cmd/kubectl":                 "kubectl",
	"sigs.k8s.io/kueue/cmd/kueue":                   "kueue",
}

// staleAfter is how long a build that nobody uses is kept.
const staleAfter = 30 * 24 * time.Hour

// Distribution is a set of built programs, and Kueue's manifests, of the versions in go.mod.
type Distribution struct {
	dir string
	// Kubernetes and Kueue are versions with a leading v.
	Kubernetes, Kueue string
}

// Program returns the path of a program, for example "kubectl".
func (d *Distribution) Program(name string) string { return filepath.Join(d.dir, "bin", name) }

// crds and webhooks are where Kueue's manifests lie.
func (d *Distribution) crds() string     { return filepath.Join(d.dir, "kueue", "crds") }
func (d *Distribution) webhooks() string { return filepath.Join(d.dir, "kueue", "webhooks.yaml") }

// Build returns the programs of this module's versions. The first call on a machine builds them, which takes
// minutes; later ones find them in the user's cache directory. What it does is written to log.
func Build(ctx context.Context, log io.Writer) (*Distribution, error) {
	goMod, err := output(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	module := filepath.Dir(goMod)
	key, d, err := identify(ctx, module)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no place to keep the built programs: %w", err)
	}
	cache = filepath.Join(cache, "gpu-quota-e2e")
	d.dir = filepath.Join(cache, key)
	if _, err := os.Stat(d.dir); err == nil {
		now := time.Now()
		return d, os.Chtimes(d.dir, now, now)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	removeStale(cache)
	return d, d.build(ctx, module, cache, log)
}

// identify reads the versions, and makes a key of all that decides what is built.
func identify(ctx context.Context, module string) (string, *Distribution, error) {
	toolchain, err := output(ctx, module, "go", "version")
	if err != nil {
		return "", nil, err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, toolchain, runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum", filepath.Join("controlplane", "build.go")} {
		content, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintln(hash, name, len(content))
		hash.Write(content)
	}
	content, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", nil, err
	}
	parsed, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return "", nil, err
	}
	d := &Distribution{}
	for _, r := range parsed.Require {
		switch r.Mod.Path {
		case kubernetesModule:
			d.Kubernetes = r.Mod.Version
		case kueueModule:
			d.Kueue = r.Mod.Version
		}
	}
	if d.Kubernetes == "" || d.Kueue == "" {
		return "", nil, fmt.Errorf("%s/go.mod requires no %s or no %s", module, kubernetesModule, kueueModule)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], d, nil
}

// build makes everything beside the place it belongs to and moves it there when it is whole, so that a build
// that was interrupted leaves nothing that looks finished.
func (d *Distribution) build(ctx context.Context, module, cache string, log io.Writer) error {
	draft, err := os.MkdirTemp(cache, "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	start := time.Now()
	fmt.Fprintf(log, "building etcd, Kubernetes %s and Kueue %s, once for this machine; this takes minutes\n",
		d.Kubernetes, d.Kueue)
	bin := filepath.Join(draft, "bin")
	args := []string{"build", "-trimpath", "-ldflags", d.linkerFlags(), "-o", bin + string(filepath.Separator)}
	for pkg := range programs {
		args = append(args, pkg)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = module, log, log
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the control plane: %w", err)
	}
	// The go command names a program of a major version after the directory above.
	if err := os.Rename(filepath.Join(bin, "server"), filepath.Join(bin, "etcd")); err != nil {
		return err
	}
	if err := copyManifests(ctx, module, filepath.Join(draft, "kueue")); err != nil {
		return err
	}
	if err := os.Rename(draft, d.dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	fmt.Fprintf(log, "built in %s into %s\n", time.Since(start).Round(time.Second), d.dir)
	return nil
}

// linkerFlags set the version that kube-apiserver tells: Kueue refuses to run with v0.0.0.
func (d *Distribution) linkerFlags() string {
	parts := strings.SplitN(strings.TrimPrefix(d.Kubernetes, "v"), ".", 3)
	const pkg = "k8s.io/component-base/version."
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s -X "+
		"%[1]sgitTreeState=clean",
		pkg, d.Kubernetes, parts[0], parts[1])
}

// copyManifests keeps Kueue's CRDs and webhook configurations beside the programs.
func copyManifests(ctx context.Context, module, to string) error {
	dir, err := output(ctx, module, "go", "list", "-m", "-f", "{{.Dir}}", kueueModule)
	if err != nil {
		return err
	}
	components := filepath.Join(dir, "config", "components")
	if err := os.CopyFS(filepath.Join(to, "crds"), os.DirFS(filepath.Join(components, "crd", "bases"))); err != nil {
		return err
	}
	webhooks, err := os.ReadFile(filepath.Join(components, "webhook", "manifests.yaml"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "webhooks.yaml"), webhooks, 0o644)
}

// removeStale removes builds that were not used for long. That it can't is no reason to stop.
func removeStale(cache string) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(filepath.Join(cache, entry.Name()))
		}
	}
}

// output runs a command and returns what it prints, without the final newline.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
	}
	return strings.TrimSpace(stdout.String()), nil
}
