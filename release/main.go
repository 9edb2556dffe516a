package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// program is the file name of the plugin.
const program = "kubectl-gpu_quota"

// platforms are those a release is built for.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// maxBinary is the largest program that is released, in bytes.
const maxBinary = 60_000_000

// release is what is to be built.
type release struct {
	root, out       string
	version, commit string
	time            time.Time
	platforms       []platform
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// archive is the file name of the platform's archive.
func (p platform) archive() string {
	if p.os == "windows" {
		return p.base() + ".zip"
	}
	return p.base() + ".tar.gz"
}

func (p platform) base() string { return program + "_" + p.os + "_" + p.arch }

// binary is the file name of the program.
func (p platform) binary() string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r, err := parse(args)
	if err != nil {
		return err
	}
	return r.build(ctx)
}

func parse(args []string) (*release, error) {
	r := &release{}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.root, "root", "..", "root of the source tree")
	flags.StringVar(&r.out, "out", "../dist", "directory to write to")
	flags.StringVar(&r.version, "version", "unknown", "version of the release")
	flags.StringVar(&r.commit, "commit", "unknown", "commit it is built from")
	seconds := flags.Int64("time", 0, "time of the commit, in seconds since 1970: what is built carries it, not the "+
		"time of the build")
	list := flags.String("platforms", platforms, "platforms, as OS/ARCH,OS/ARCH")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	r.time = time.Unix(*seconds, 0).UTC()
	for _, text := range strings.Split(*list, ",") {
		system, arch, ok := strings.Cut(text, "/")
		if !ok {
			return nil, fmt.Errorf("%q is not OS/ARCH", text)
		}
		r.platforms = append(r.platforms, platform{system, arch})
	}
	return r, nil
}

// build writes everything. An old release in the directory is overwritten.
func (r *release) build(ctx context.Context) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	pages, err := r.manPages()
	if err != nil {
		return err
	}
	var written []string
	for _, p := range r.platforms {
		files, err := r.buildPlatform(ctx, p, pages)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		written = append(written, files...)
	}
	if err := r.writeChecksums(written); err != nil {
		return err
	}
	return r.writeManifest()
}

// buildPlatform builds the program for one platform and packs it.
func (r *release) buildPlatform(ctx context.Context, p platform, pages []file) ([]string, error) {
	scratch, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	binary := filepath.Join(scratch, p.binary())
	if err := r.compile(ctx, p, binary); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	if len(content) > maxBinary {
		return nil, fmt.Errorf("the program has %d bytes, more than %d", len(content), maxBinary)
	}
	bom, used, err := r.bill(p, binary)
	if err != nil {
		return nil, err
	}
	modules, err := r.modules(ctx, p)
	if err != nil {
		return nil, err
	}
	thirdParty, err := modules.licences(used)
	if err != nil {
		return nil, err
	}
	files := append([]file{{p.binary(), content, true}, {"THIRD_PARTY_LICENSES", thirdParty, false}}, pages...)
	for _, name := range []string{"LICENSE", "README.md", "plugins/kubectl_complete-gpu_quota"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{filepath.Base(name), content, strings.HasPrefix(name, "plugins/")})
	}
	if err := r.pack(p, files); err != nil {
		return nil, err
	}
	bill := p.base() + ".cdx.json"
	return []string{p.archive(), bill}, os.WriteFile(filepath.Join(r.out, bill), bom, 0o644)
}
