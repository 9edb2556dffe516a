package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// result is how a command ended.
type result struct {
	stdout, stderr string
	code           int
}

// command is `kubectl ARGS…` with the plugin on the PATH and nothing else there.
func command(ctx context.Context, home, kubeconfig string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, distribution.Program("kubectl"), args...)
	cmd.Env = []string{
		"PATH=" + pluginDir + string(filepath.ListSeparator) + filepath.Dir(distribution.Program("kubectl")),
		"HOME=" + home, "KUBECONFIG=" + kubeconfig, "TMPDIR=" + os.TempDir(),
	}
	return cmd
}

// kubectl runs kubectl as a user.
func kubectl(t testing.TB, kubeconfig string, args ...string) result {
	t.Helper()
	return finish(t, command(short(t), t.TempDir(), kubeconfig, args...))
}

func finish(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", cmd, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// gpuQuota runs `kubectl gpu-quota ARGS…` as a user, which must succeed, and decodes what it prints.
func gpuQuota(t testing.TB, cp *controlplane.ControlPlane, user string, into any, args ...string) {
	t.Helper()
	args = append(append([]string{"gpu-quota"}, args...), "-o", "json")
	r := kubectl(t, cp.Kubeconfig(user), args...)
	if r.code != 0 {
		t.Fatalf("kubectl %s: exit %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, r.stdout)
	}
}

// chargeList and explanationList are what these tests read of the plugin's output.
type chargeList struct {
	Kueue struct{ Version, VersionSource, Configuration string }
	Items []charge
}

type charge struct {
	Workload, Owner *reference
	Verdict         string
	Total           map[string]string
	Published       map[string]string
	Problems        []struct {
		Code, Message, KueueMessage string
		PossibleKueueMessages       []string
	}
	Missing []string
}

type reference struct{ Kind, Namespace, Name string }

type explanationList struct {
	Items []explanation
}

type explanation struct {
	Workload, Owner *reference
	Charge          charge
	Reported        struct{ State, Reason, Message string }
	Predicted       prediction
	Agrees          *bool
	Inconsistencies []string
}

type prediction struct {
	State, Message   string
	PossibleMessages []string
	PodSets          []struct {
		Name    string
		Flavors map[string]string
		Usage   map[string]string
	}
	Preempts []struct{ Workload reference }
}
