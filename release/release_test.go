package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// built is the release that the tests look at.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// here is the platform of this machine; krew and the tests of the program run on it.
func here() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// releaseOf builds a release of some platforms.
func releaseOf(root, out string, platforms ...string) error {
	return run(context.Background(), []string{"-root", root, "-out", out, "-version", "v1.2.3", "-commit", "0123abc", "-time", "1772442840", "-platforms", strings.Join(platforms, ",")})
}

// dist is a release for this machine, built once. Other platforms take minutes to compile: `make release` builds them.
func dist(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "release-"); built.err == nil {
			built.err = releaseOf("..", built.dir, here().String())
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// installed unpacks the archive of this machine.
func installed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range archived(t, here()) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.content, f.mode()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// archived are the files of a platform's archive.
func archived(t *testing.T, p platform) map[string]file {
	t.Helper()
	return filesOf(t, p, filepath.Join(dist(t), p.archive()))
}

func filesOf(t *testing.T, p platform, archive string) map[string]file {
	t.Helper()
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	add := func(name string, mode os.FileMode, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file{name, content, mode&0o100 != 0}
	}
	if p.os == "windows" {
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.Mode(), r)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		add(h.Name, h.FileInfo().Mode(), r)
	}
}

func TestTheArchiveHoldsTheProgramAndItsLicences(t *testing.T) {
	files := archived(t, here())
	for name, wantExecutable := range map[string]bool{
		here().binary(): true, "kubectl_complete-gpu_quota": true, "LICENSE": false, "README.md": false,
		"THIRD_PARTY_LICENSES": false, "man/man1/kubectl-gpu-quota.1": false, "man/man1/kubectl-gpu-quota-explain.1": false,
	} {
		if f, ok := files[name]; !ok || f.executable != wantExecutable || len(f.content) == 0 {
			t.Errorf("%s: there %v, executable %v, want %v", name, ok, f.executable, wantExecutable)
		}
	}
	if notices := string(files["THIRD_PARTY_LICENSES"].content); !strings.Contains(notices, "\nk8s.io/client-go v") || !strings.Contains(notices, "\nstdlib go") {
		t.Error("the notices lack those of client-go or of Go")
	}
	if size := len(files[here().binary()].content); size > maxBinary {
		t.Errorf("the program has %d bytes, more than %d", size, maxBinary)
	}
}

// TestTheSameSourceGivesTheSameBytes builds a copy of the source tree at another place, without its history.
func TestTheSameSourceGivesTheSameBytes(t *testing.T) {
	root, again := t.TempDir(), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "LICENSE", "README.md", "cmd", "pkg", "plugins", "krew", "demo"} {
		from, to := filepath.Join("..", name), filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(from); err != nil {
			t.Fatal(err)
		} else if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
			if err != nil {
				t.Fatal(err)
			}
		} else if content, err := os.ReadFile(from); err != nil {
			t.Fatal(err)
		} else if err := os.WriteFile(to, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := releaseOf(root, again, here().String()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{here().archive(), here().base() + ".cdx.json"} {
		first, err := os.ReadFile(filepath.Join(dist(t), name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(again, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs from the one built of the same source elsewhere", name)
		}
	}
}

func TestChecksums(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(dist(t), checksums))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(content)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		r := release{out: dist(t)}
		if got, err := r.checksum(name); err != nil || got != sum {
			t.Errorf("%s has the checksum %s (%v), not %s", name, got, err, sum)
		}
		names = append(names, name)
	}
	for _, want := range []string{here().archive(), here().base() + ".cdx.json"} {
		if !slices.Contains(names, want) {
			t.Errorf("no checksum of %s", want)
		}
	}
}

func TestBillOfMaterials(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(dist(t), here().base()+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	bom := cdx.BOM{}
	if err := cdx.NewBOMDecoder(bytes.NewReader(content), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if c := bom.Metadata.Component; c.Name != program || c.Version != "v1.2.3" {
		t.Errorf("it is of %s %s", c.Name, c.Version)
	}
	goMod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"k8s.io/client-go", "sigs.k8s.io/kueue", "github.com/google/cel-go"} {
		i := slices.IndexFunc(*bom.Components, func(c cdx.Component) bool { return c.Name == name })
		if i < 0 || !strings.Contains(string(goMod), "\t"+name+" "+(*bom.Components)[i].Version+"\n") {
			t.Errorf("%s is not listed in the version of go.mod", name)
		}
	}
}

func TestThePlainCommandsAreQuick(t *testing.T) {
	const limit = 60 * time.Millisecond
	binary := filepath.Join(installed(t), here().binary())
	for _, args := range [][]string{{"--help"}, {"explain", "--help"}, {"version"}} {
		best := time.Hour
		for range 20 {
			start := time.Now()
			if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			best = min(best, time.Since(start))
		}
		if best > limit {
			t.Errorf("%v takes %v at best, more than %v", args, best, limit)
		}
	}
}

func TestTheProgramTellsItsVersion(t *testing.T) {
	out, err := exec.Command(filepath.Join(installed(t), here().binary()), "version").CombinedOutput()
	if want := "kubectl-gpu_quota v1.2.3 (commit 0123abc)"; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("got %q (%v), want %q", out, err, want)
	}
}

func TestManPagesTellEveryFlag(t *testing.T) {
	files := archived(t, here())
	for command, flags := range map[string][]string{
		"explain": {"--from", "--kueue-version", "--namespace"}, "collect": {"--redact", "--output"}, "charge": {"--filename", "--selector"},
	} {
		page := strings.ReplaceAll(string(files["man/man1/kubectl-gpu-quota-"+command+".1"].content), `\-`, "-")
		for _, want := range append(flags, ".SH EXAMPLE", "kubectl gpu-quota "+command) {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %s", command, want)
			}
		}
	}
	if text := verbatimLists("a\n  b  c\n  d\ne\n"); text != "a\n\n      b  c\n      d\n\ne\n" {
		t.Errorf("lists become %q", text)
	}
}

// krew is pinned here and nowhere else. It is fetched and built by the go command.
const krew = "v0.4.3"

// krewTools builds krew and its validator.
func krewTools(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "install", "sigs.k8s.io/krew/cmd/krew@"+krew, "sigs.k8s.io/krew/cmd/validate-krew-manifest@"+krew)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-trimpath", "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return dir
}

// TestKrewTakesTheManifest has krew's own code check the manifest, and install the plugin from the archive of this
// machine and from a zip as Windows gets it, in which the program is a word.
func TestKrewTakesTheManifest(t *testing.T) {
	windows := platform{"windows", "amd64"}
	r := &release{root: "..", out: t.TempDir(), version: "v1.2.3", time: time.Unix(1772442840, 0), platforms: []platform{here(), windows}}
	var native []file
	for _, f := range archived(t, here()) {
		native = append(native, f)
	}
	if err := r.pack(here(), native); err != nil {
		t.Fatal(err)
	}
	if err := r.pack(windows, []file{{windows.binary(), []byte("MZ"), true}, {"LICENSE", []byte("l"), false}, {"THIRD_PARTY_LICENSES", []byte("t"), false}}); err != nil {
		t.Fatal(err)
	}
	if err := r.writeManifest(); err != nil {
		t.Fatal(err)
	}
	tools, filled := krewTools(t), filepath.Join(r.out, filepath.Base(manifest))
	if out, err := exec.Command(filepath.Join(tools, "validate-krew-manifest"), "-skip-install", "-manifest", filled).CombinedOutput(); err != nil {
		t.Fatalf("krew refuses the manifest: %v\n%s", err, out)
	}
	for _, p := range r.platforms {
		t.Run(p.String(), func(t *testing.T) {
			root := t.TempDir()
			cmd := exec.Command(filepath.Join(tools, "krew"), "install", "--manifest", filled, "--archive", filepath.Join(r.out, p.archive()))
			cmd.Env = append(os.Environ(), "KREW_ROOT="+root, "KREW_OS="+p.os, "KREW_ARCH="+p.arch, "KREW_NO_UPGRADE_CHECK=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", cmd, err, out)
			}
			for _, name := range []string{p.binary(), "LICENSE", "THIRD_PARTY_LICENSES"} {
				if _, err := os.Stat(filepath.Join(root, "store", "gpu-quota", "v1.2.3", name)); err != nil {
					t.Errorf("not installed: %v", err)
				}
			}
			if p != here() {
				return
			}
			out, err := exec.Command(filepath.Join(root, "bin", program), "version").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "v1.2.3") {
				t.Errorf("the installed plugin says %q (%v)", out, err)
			}
		})
	}
}

func TestTags(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", "0123abc": "v0.0.0-0123abc", "unknown": "v0.0.0-unknown", "0123_x": "v0.0.0-0123-x"} {
		if got := (&release{version: version}).tag(); got != want {
			t.Errorf("%s becomes %s, want %s", version, got, want)
		}
	}
}

func TestUnknownLicencesAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("All rights reserved."), 0o644); err != nil {
		t.Fatal(err)
	}
	dirs := moduleDirs{"example.com/a@v1.0.0": dir}
	if text, err := dirs.licences([]used{{"example.com/a", "v1.0.0", ""}}); err == nil {
		t.Errorf("taken: %s", text)
	}
	if _, err := dirs.licences([]used{{"example.com/b", "v1.0.0", ""}}); err == nil {
		t.Error("a module that is not there has a licence")
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-platforms", "linux"}, {"-nonsense"}, {"-root", filepath.Join(t.TempDir(), "none")}} {
		if err := run(context.Background(), append([]string{"-out", t.TempDir()}, args...)); err == nil {
			t.Error(fmt.Sprint(args), "is taken")
		}
	}
}
