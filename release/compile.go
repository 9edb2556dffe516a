package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const module = "github.com/gpu-quota/kubectl-gpu-quota"

// compile builds the program as `make build` does, and so that nothing of the machine it is built on gets into it.
func (r *release) compile(ctx context.Context, p platform, binary string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	set := fmt.Sprintf("-s -w -buildid= -X %s/pkg/cli.version=%s -X %s/pkg/cli.commit=%s", module, r.version, module,
		r.commit)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", set, "-o", binary,
		"./cmd/"+program)
	cmd.Dir = r.root
	cmd.Env = p.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// environment is what the go command runs in, whatever is set on the machine.
func (p platform) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=")
}
