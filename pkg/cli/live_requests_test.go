package cli

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// recorder remembers what was asked for.
type recorder struct {
	http.Handler
	mu    sync.Mutex
	asked []*http.Request
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	r.asked = append(r.asked, request.Clone(request.Context()))
	r.mu.Unlock()
	r.Handler.ServeHTTP(w, request)
}

// paths are what was asked for.
func (r *recorder) paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, request := range r.asked {
		out = append(out, request.URL.Path)
	}
	slices.Sort(out)
	return out
}

// isList tells the path of a list from those of one object and of what is served.
func isList(path string) bool {
	return slices.ContainsFunc(cluster.Kinds(), func(k cluster.Kind) bool { return k.Resource != "" && strings.HasSuffix(path, "/"+k.Resource) })
}

func TestOnlyWhatTheAnswerRestsOnIsRead(t *testing.T) {
	r := &recorder{Handler: apiHandler(t, testdata(t, "cluster.yaml"))}
	server := serve(t, r)
	if out, errOut, code := run(t, "explain", "job/train", "-n", "team-a", "--server", server.URL); code != 0 {
		t.Fatalf("exit %d, stderr %q, stdout:\n%s", code, errOut, out)
	}
	for _, path := range r.paths() {
		for _, kind := range []string{"/pods", "/replicasets", "/statefulsets", "/resourceclaims", "/secrets", "/events", "/topologies"} {
			if strings.HasSuffix(path, kind) {
				t.Errorf("%s was read to explain a job", path)
			}
		}
		if strings.HasSuffix(path, "/configmaps") {
			t.Errorf("ConfigMaps were listed at %s, though the Deployment of Kueue's manager names its own", path)
		}
	}
	for _, request := range r.asked {
		if request.Method != http.MethodGet {
			t.Errorf("%s %s", request.Method, request.URL)
		}
		metadata := strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadata")
		if wanted := request.URL.Path == "/api/v1/namespaces"; metadata != wanted {
			t.Errorf("%s: metadata only %t, want %t", request.URL.Path, metadata, wanted)
		}
		if list := request.URL.Query().Get("limit"); list != "500" && isList(request.URL.Path) {
			t.Errorf("%s asks for pages of %q, want 500", request.URL.Path, list)
		}
	}
	if _, errOut, code := run(t, "explain", "-n", "team-a", "--server", server.URL); code != 0 {
		t.Fatalf("exit %d, stderr %q", code, errOut)
	}
	if paths := r.paths(); !slices.Contains(paths, "/api/v1/namespaces/team-a/pods") {
		t.Errorf("pods are not read when all workloads are asked for: %q", paths)
	}
}

func TestKueueIsFoundWhereverItRuns(t *testing.T) {
	usual := testdata(t, "cluster.yaml")
	documents := strings.ReplaceAll(strings.ReplaceAll(usual, "kueue-system", "batch-system"), "kueue-manager-config", "our-kueue")
	documents = documents[:strings.Index(documents, "apiVersion: apps/v1\nkind: Deployment")] + `apiVersion: apps/v1
kind: Deployment
metadata: {name: our-manager, namespace: batch-system, labels: {control-plane: controller-manager}}
spec:
  template:
    spec:
      containers: [{name: manager, image: "registry.example/kueue:v0.19.0", args: [--config=/controller_manager_config.yaml]}]
      volumes: [{name: config, configMap: {name: our-kueue}}]
`
	server := apiServer(t, documents)
	args := []string{"charge", "job/train", "-n", "team-a", "--server", server.URL, "-o", "jsonpath={.kueue.version} {.kueue.versionSource} {.kueue.configuration} {.items[0].verdict}"}
	out, errOut, code := run(t, args...)
	if want := "v0.19.0 image ConfigMap batch-system/our-kueue Charged"; out != want || code != 0 {
		t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
	}
}

func TestATenantReadsItsOwnNamespace(t *testing.T) {
	documents := strings.Replace(testdata(t, "cluster.yaml"), "namespaceSelector: {}", "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-b}}", 1)
	r := &recorder{Handler: apiHandler(t, documents, "/api/v1/namespaces")}
	server := serve(t, r)
	out, errOut, code := run(t, "charge", "job/train", "-n", "team-a", "--server", server.URL, "-o", "jsonpath={.items[0].problems[0].kueueMessage}")
	if want := "workload namespace doesn't match ClusterQueue selector"; out != want || code != 0 {
		t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
	}
	if strings.Contains(errOut, "Namespace") {
		t.Errorf("the namespace was read, but stderr says: %s", errOut)
	}
	if paths := r.paths(); !slices.Contains(paths, "/api/v1/namespaces/team-a") {
		t.Errorf("the namespace was not asked for: %q", paths)
	}
}

// dying is a server that goes away: its n-th answer breaks off, and from then on nobody is there.
type dying struct {
	http.Handler
	server *httptest.Server
	// after is the number of whole answers; half tells that a half of the next one is sent.
	after int
	half  bool

	mu    sync.Mutex
	given int
}

func (d *dying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	n := d.given
	d.given++
	d.mu.Unlock()
	if n < d.after {
		d.Handler.ServeHTTP(w, r)
		return
	}
	d.server.Listener.Close()
	if n == d.after && d.half {
		whole := httptest.NewRecorder()
		d.Handler.ServeHTTP(whole, r)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	}
	panic(http.ErrAbortHandler)
}

func TestAServerThatGoesAwayIsNoAnswer(t *testing.T) {
	handler := apiHandler(t, testdata(t, "cluster.yaml"))
	explain := func(after int, half bool) (stdout, stderr string, code, answers int) {
		d := &dying{Handler: handler, after: after, half: half}
		d.server = httptest.NewServer(d)
		defer d.server.Close()
		stdout, stderr, code = run(t, "explain", "job/train", "-n", "team-a", "-o", "json", "--server", d.server.URL)
		return stdout, stderr, code, d.given
	}
	_, errOut, code, all := explain(1<<20, false)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	check := func(after int, half bool) {
		out, errOut, code, _ := explain(after, half)
		if code != ExitUnusable || out != "" || !strings.HasPrefix(errOut, "error: cannot read from the API server") {
			t.Errorf("the server goes away at answer %d of %d (half of it sent: %t): exit %d, stderr %q, stdout %q; want exit 2, an error and nothing on stdout",
				after, all, half, code, errOut, out)
		}
	}
	for n := range all {
		check(n, true)
	}
	// A connection that is closed without an answer is tried again after a second.
	check(0, false)
	check(all/2, false)
	check(all-1, false)
}

func TestAServerThatDoesNotAnswerInTime(t *testing.T) {
	released := make(chan struct{})
	server := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-released:
		}
	}))
	defer close(released)
	out, errOut, code := run(t, "charge", "-n", "team-a", "--server", server.URL, "--request-timeout", "50ms")
	if code != ExitUnusable || out != "" || !strings.Contains(errOut, "error: cannot read from the API server "+server.URL) || !strings.Contains(errOut, "--request-timeout") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
}

func TestImpersonationAndKubeconfig(t *testing.T) {
	r := &recorder{Handler: apiHandler(t, testdata(t, "cluster.yaml"))}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	kubeconfig := t.TempDir() + "/config"
	writeFile(t, kubeconfig, "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: "+server.URL+
		", insecure-skip-tls-verify: true}}]\ncontexts: [{name: c, context: {cluster: c, user: u, namespace: team-a}}]\nusers: [{name: u, user: {token: t0ken}}]\n")
	out, errOut, code := run(t, "charge", "--kubeconfig", kubeconfig, "--as", "jane", "--as-group", "developers", "-o", "name")
	if !strings.Contains(out, "job.batch/train") || strings.Contains(out, "elsewhere") || code != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q; want the jobs of the context's namespace", code, out, errOut)
	}
	want := map[string]string{"Authorization": "Bearer t0ken", "Impersonate-User": "jane", "Impersonate-Group": "developers"}
	for _, request := range r.asked {
		got := map[string]string{}
		for name := range want {
			got[name] = request.Header.Get(name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("headers of %s (-want +got):\n%s", (&url.URL{Path: request.URL.Path}), diff)
		}
	}
}
