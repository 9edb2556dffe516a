package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
)

// Users who may sign in with a token that is their name.
const (
	// Admin may do everything.
	Admin = "admin"
	// Reader is bound to nothing at first: a test binds the roles it is about.
	Reader = "reader"
	// Tenant is bound to nothing at first, too.
	Tenant = "tenant"
)

var users = map[string]string{Admin: "system:masters", Reader: "", Tenant: ""}

const adminKubeconfig = Admin + ".kubeconfig"

// Options say how the API server runs.
type Options struct {
	// RuntimeConfig is kube-apiserver's --runtime-config: which APIs are served.
	RuntimeConfig string
}

// allDeviceAPIs serves every version of the device API that the plugin can read.
const allDeviceAPIs = "resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true"

// featureGates turn on the device features that are charged and are not on by default.
const featureGates = "DRAExtendedResource=true,DRAPartitionableDevices=true,DRAConsumableCapacity=true"

// ControlPlane is a running control plane.
type ControlPlane struct {
	*Distribution
	opts   Options
	dir    string
	certs  *certificates
	ports  ports
	client *client

	etcd, apiserver, kueue *process
	controllers            []*process
	installed              bool
}

type ports struct{ etcd, peer, apiserver, webhook, health int }

// Start runs etcd and kube-apiserver below a temporary directory. Stop must be called, also after an error.
func Start(ctx context.Context, d *Distribution, opts Options) (*ControlPlane, error) {
	dir, err := os.MkdirTemp("", "gpu-quota-e2e-")
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{Distribution: d, opts: opts, dir: dir}
	if cp.opts.RuntimeConfig == "" {
		cp.opts.RuntimeConfig = allDeviceAPIs
	}
	return cp, cp.start(ctx)
}

func (cp *ControlPlane) start(ctx context.Context) error {
	free, err := freePorts(5)
	if err != nil {
		return err
	}
	cp.ports = ports{free[0], free[1], free[2], free[3], free[4]}
	if cp.certs, err = newCertificates(); err != nil {
		return err
	}
	if err := cp.certs.write(filepath.Join(cp.dir, "certs")); err != nil {
		return err
	}
	if err := cp.writeFiles(); err != nil {
		return err
	}
	if err := cp.startEtcd(ctx); err != nil {
		return err
	}
	if err := cp.StartAPIServer(ctx); err != nil {
		return err
	}
	cp.client, err = newClient(cp.Config(Admin))
	return err
}

// Stop ends every program and removes the temporary directory.
func (cp *ControlPlane) Stop() {
	if cp == nil {
		return
	}
	for _, p := range cp.controllers {
		p.stop()
	}
	cp.kueue.stop()
	cp.apiserver.stop()
	cp.etcd.stop()
	_ = os.RemoveAll(cp.dir)
}

// Server is the address of the API server.
func (cp *ControlPlane) Server() string {
	return fmt.Sprintf("https://127.0.0.1:%d", cp.ports.apiserver)
}

// CA is the path of the certificate authority's certificate.
func (cp *ControlPlane) CA() string { return filepath.Join(cp.dir, "certs", "ca.crt") }

// Config connects a client of this program as a user.
func (cp *ControlPlane) Config(user string) *rest.Config {
	return &rest.Config{
		Host: cp.Server(), BearerToken: user, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.certs.ca},
	}
}

// Kubeconfig is the path of the kubeconfig of a user, whose context is named after the user.
func (cp *ControlPlane) Kubeconfig(user string) string {
	return filepath.Join(cp.dir, user+".kubeconfig")
}

// writeFiles writes what the API server reads and the kubeconfigs.
func (cp *ControlPlane) writeFiles() error {
	var tokens strings.Builder
	for user, group := range users {
		fmt.Fprintf(&tokens, "%s,%s,%s,%q\n", user, user, user, group)
		if err := os.WriteFile(cp.Kubeconfig(user), []byte(cp.KubeconfigFor(cp.Server(), user)), 0o600); err != nil {
			return err
		}
	}
	// Every request is recorded once, with who asked for what, and no content.
	const policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, " +
		"ResponseStarted]\nrules:\n- level: Metadata\n"
	key, err := newTokenKey()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tokens.csv": []byte(tokens.String()), "audit.yaml": []byte(policy),
		"tokens.key": key} {
		if err := os.WriteFile(filepath.Join(cp.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// KubeconfigFor is the text of a kubeconfig for any server and token.
func (cp *ControlPlane) KubeconfigFor(server, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: %[3]q, cluster: {server: %[1]q, certificate-authority: %[2]q}}]
users: [{name: %[3]q, user: {token: %[3]q}}]
contexts: [{name: %[3]q, context: {cluster: %[3]q, user: %[3]q}}]
current-context: %[3]q
`, server, cp.CA(), token)
}

func (cp *ControlPlane) startEtcd(ctx context.Context) error {
	url := func(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }
	client, peer := url(cp.ports.etcd), url(cp.ports.peer)
	var err error
	cp.etcd, err = launch(cp.dir, "etcd", cp.Program("etcd"), "--data-dir="+filepath.Join(cp.dir, "etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		// Nothing here outlives the test, so nothing has to survive the machine.
		"--unsafe-no-fsync")
	if err != nil {
		return err
	}
	return cp.etcd.awaitReady(ctx, func(ctx context.Context) error { return healthy(ctx, client+"/health", nil) })
}

// StartAPIServer starts kube-apiserver, also again after [ControlPlane.KillAPIServer].
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	cert := func(name string) string { return filepath.Join(cp.dir, "certs", name) }
	file := func(name string) string { return filepath.Join(cp.dir, name) }
	var err error
	cp.apiserver, err = launch(cp.dir, "kube-apiserver", cp.Program("kube-apiserver"),
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", cp.ports.etcd),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", cp.ports.apiserver),
		"--tls-cert-file="+cert("tls.crt"), "--tls-private-key-file="+cert("tls.key"),
		"--service-account-key-file="+file("tokens.key"), "--service-account-signing-key-file="+file("tokens.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC", "--token-auth-file="+file("tokens.csv"),
		"--audit-policy-file="+file("audit.yaml"), "--audit-log-path="+cp.auditLog(), "--audit-log-mode=blocking",
		// Nobody makes the service account of a namespace here, or looks after the taints of nodes.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--feature-gates="+featureGates, "--runtime-config="+cp.opts.RuntimeConfig)
	if err != nil {
		return err
	}
	return cp.apiserver.awaitReady(ctx, func(ctx context.Context) error {
		return healthy(ctx, cp.Server()+"/readyz", http.Header{"Authorization": {"Bearer " + Admin}})
	})
}

// KillAPIServer ends kube-apiserver in the middle of whatever it does.
func (cp *ControlPlane) KillAPIServer() { cp.apiserver.kill() }

// StartControllers runs kube-controller-manager, with the controllers that work without nodes, and
// kube-scheduler: jobs get pods, pods get claims and a node, and what owns nothing any more goes.
func (cp *ControlPlane) StartControllers(ctx context.Context) error {
	if len(cp.controllers) > 0 {
		return nil
	}
	free, err := freePorts(2)
	if err != nil {
		return err
	}
	kubeconfig := "--kubeconfig=" + cp.Kubeconfig(Admin)
	for i, args := range [][]string{
		{"kube-controller-manager",
			"--controllers=job-controller,garbage-collector-controller,namespace-controller,resourceclaim-controller"},
		{"kube-scheduler"},
	} {
		args = append(args, kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", free[i]), "--feature-gates="+featureGates,
			"--authentication-kubeconfig="+cp.Kubeconfig(Admin), "--authorization-kubeconfig="+cp.Kubeconfig(Admin))
		p, err := launch(cp.dir, args[0], cp.Program(args[0]), args[1:]...)
		if err != nil {
			return err
		}
		cp.controllers = append(cp.controllers, p)
		url := fmt.Sprintf("https://127.0.0.1:%d/healthz", free[i])
		if err := p.awaitReady(ctx, func(ctx context.Context) error { return healthy(ctx, url, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// healthy tells that a loopback server answers with 200. Whose certificate it has is of no interest here.
func healthy(ctx context.Context, url string, header http.Header) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header = header
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
