package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// What is wrong with the way to the cluster is said in one line, with exit code 2 and nothing on standard output.
func TestNoWayToTheCluster(t *testing.T) {
	cp := sharedControlPlane(t, read(t, walkthrough("claim-template", "kueue.yaml")))
	const nowhere = "https://127.0.0.1:1"
	for _, c := range []struct {
		name, kubeconfig string
		args             []string
		want             string
	}{
		{"wrong context", cp.Kubeconfig(controlplane.Admin), []string{"--context", "nope"}, "context was not found for specified context: nope"},
		{"wrong token", write(t, "token", cp.KubeconfigFor(cp.Server(), "expired")), nil, "the API server does not accept the user: "},
		{"unreachable", write(t, "unreachable", cp.KubeconfigFor(nowhere, "x")), nil, "cannot read from the API server " + nowhere},
		{"another authority", write(t, "authority", strings.Replace(cp.KubeconfigFor(cp.Server(), controlplane.Admin), "certificate-authority: ", "tls-server-name: other.example, certificate-authority: ", 1)), nil, "certificate is valid for"},
		{"no such kubeconfig", filepath.Join(t.TempDir(), "gone"), nil, "no cluster and no input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := kubectl(t, c.kubeconfig, append([]string{"gpu-quota", "charge", "-A"}, c.args...)...)
			if r.code != 2 || r.stdout != "" || !strings.HasPrefix(r.stderr, "error: ") || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("exit %d, stdout %q, stderr %q, want %q", r.code, r.stdout, r.stderr, c.want)
			}
		})
	}
}

// In a pod, the token and the address that every pod has are enough.
func TestInAPod(t *testing.T) {
	cp := withAWorkload(t)
	admin := cp.Kubeconfig(controlplane.Admin)
	apply(t, cp, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: inspector, namespace: team}\n---\n"+
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: inspector}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kubectl-gpu-quota}\n"+
		"subjects: [{kind: ServiceAccount, name: inspector, namespace: team}]\n---\n"+
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: inspector, namespace: kueue-system}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: kubectl-gpu-quota-config}\n"+
		"subjects: [{kind: ServiceAccount, name: inspector, namespace: team}]\n")
	token := kubectl(t, admin, "create", "token", "inspector", "-n", "team")
	if token.code != 0 {
		t.Fatal(token.stderr)
	}
	secrets := t.TempDir()
	for name, content := range map[string]string{"token": strings.TrimSpace(token.stdout), "namespace": "team", "ca.crt": read(t, cp.CA())} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The place where a pod finds them is fixed; here it exists for this one process only.
	const script = `mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io && cp -r "$1" /run/secrets/kubernetes.io/serviceaccount && shift && exec "$@"`
	inPod := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(short(t), "unshare", append([]string{"--mount", "--map-root-user", "sh", "-c", script, "sh", secrets}, args...)...)
		host, port, _ := strings.Cut(strings.TrimPrefix(cp.Server(), "https://"), ":")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port}
		return cmd
	}
	if out, err := inPod("test", "-s", "/var/run/secrets/kubernetes.io/serviceaccount/token").CombinedOutput(); err != nil {
		t.Skipf("this system lets no process have a directory of its own: %v %s", err, out)
	}
	r := finish(t, inPod(filepath.Join(pluginDir, pluginName), "charge", "-o", `jsonpath={.items[*].owner.name} {.items[*].verdict}`))
	if want := "claim Charged"; r.stdout != want || r.code != 0 {
		t.Errorf("exit %d, stdout %q, want %q; stderr %q", r.code, r.stdout, want, r.stderr)
	}
}

// Without the device API, and without Kueue, the plugin says what there is to say.
func TestPoorClusters(t *testing.T) {
	cp := ownControlPlane(t, controlplane.Options{RuntimeConfig: "resource.k8s.io/v1=false"})
	admin := cp.Kubeconfig(controlplane.Admin)
	apply(t, cp, read(t, fixture("poor/plain-job.yaml")))
	t.Run("no Kueue", func(t *testing.T) {
		for _, args := range [][]string{{"charge", "-A"}, {"explain", "job/plain", "-n", "team"}} {
			r := kubectl(t, admin, append([]string{"gpu-quota"}, args...)...)
			if r.code != 2 || r.stdout != "" || !strings.HasPrefix(r.stderr, "error: there is no Kueue in this cluster") {
				t.Errorf("%q: exit %d, stdout %q, stderr %q", args, r.code, r.stdout, r.stderr)
			}
		}
		if r := kubectl(t, admin, "gpu-quota", "explain", "job/plain", "-n", "team", "--watch"); r.code != 2 || !strings.Contains(r.stderr, "Kueue is not installed there") {
			t.Errorf("--watch: exit %d, stderr %q", r.code, r.stderr)
		}
	})
	t.Run("no device API", func(t *testing.T) {
		if err := cp.StartKueue(short(t), []byte(read(t, walkthrough("claim-template", "kueue.yaml")))); err != nil {
			t.Fatal(err)
		}
		apply(t, cp, read(t, fixture("poor/queue.yaml")))
		awaitQueues(t, cp)
		if err := cp.DeleteAll(short(t), "batch/v1", "Job"); err != nil {
			t.Fatal(err)
		}
		apply(t, cp, read(t, fixture("poor/plain-job.yaml")))
		want := want{state: "Admitted", charge: quantities("cpu", "1", "nvidia.com/gpu", "2")}
		w := awaitDecision(t, cp, "plain", want)
		checkExplained(t, cp, "plain", want, w)
	})
}
