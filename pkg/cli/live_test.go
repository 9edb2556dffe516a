package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// apiServer serves the objects of some YAML documents, and refuses the paths in forbidden.
func apiServer(t *testing.T, documents string, forbidden ...string) *httptest.Server {
	t.Helper()
	return serve(t, apiHandler(t, documents, forbidden...))
}

func serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func apiHandler(t *testing.T, documents string, forbidden ...string) http.Handler {
	t.Helper()
	objects := map[string][]map[string]any{} // by API version and resource
	served := map[string]*metav1.APIResourceList{}
	lists := map[string]metav1.TypeMeta{}
	var all []unstructured.Unstructured
	for _, text := range strings.Split(documents, "\n---\n") {
		var o unstructured.Unstructured
		text, err := yaml.YAMLToJSON([]byte(text))
		if err == nil {
			err = utiljson.Unmarshal(text, &o.Object) // which keeps large integers
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	for _, k := range cluster.Kinds() {
		gv := k.Versions[0]
		path := "/api/" + gv
		if k.Group != "" {
			path, gv = "/apis/"+k.Group+"/"+gv, k.Group+"/"+gv
		}
		if served[path] == nil {
			served[path] = &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv}
		}
		served[path].APIResources = append(served[path].APIResources, metav1.APIResource{Name: k.Resource, Kind: k.Kind, Namespaced: k.Namespaced, Verbs: []string{"list"}})
		objects[path+"/"+k.Resource] = nil
		lists[path+"/"+k.Resource] = metav1.TypeMeta{Kind: k.Kind + "List", APIVersion: gv}
		for _, o := range all {
			if o.GetKind() == k.Kind && o.GetAPIVersion() == gv {
				objects[path+"/"+k.Resource] = append(objects[path+"/"+k.Resource], o.Object)
			}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		path, namespace, name := splitPath(r.URL.Path, objects)
		answer := any(served[path])
		list, isList := objects[path]
		switch {
		case slices.Contains(forbidden, r.URL.Path):
			w.WriteHeader(http.StatusForbidden)
			answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "not for you"}
		case isList:
			selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
			if err != nil {
				t.Error(err)
			}
			items := slices.DeleteFunc(append([]map[string]any{}, list...), func(item map[string]any) bool {
				o := &unstructured.Unstructured{Object: item}
				return namespace != "" && o.GetNamespace() != namespace || name != "" && o.GetName() != name || !selector.Matches(labels.Set(o.GetLabels()))
			})
			answer = map[string]any{"kind": lists[path].Kind, "apiVersion": lists[path].APIVersion, "metadata": map[string]any{}, "items": items}
			if name != "" && len(items) == 0 {
				w.WriteHeader(http.StatusNotFound)
				answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}
			} else if name != "" {
				answer = items[0]
			}
		case served[path] == nil:
			http.NotFound(w, r)
			return
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})
}

// splitPath takes the path of a list, or of one object, apart.
func splitPath(path string, lists map[string][]map[string]any) (list, namespace, name string) {
	if before, after, ok := strings.Cut(path, "/namespaces/"); ok {
		if of, resource, ok := strings.Cut(after, "/"); ok {
			path, namespace = before+"/"+resource, of
		}
	}
	if _, isList := lists[path]; isList {
		return path, namespace, ""
	}
	if i := strings.LastIndex(path, "/"); i >= 0 {
		if _, isList := lists[path[:i]]; isList {
			return path[:i], namespace, path[i+1:]
		}
	}
	return path, namespace, ""
}

// run executes a command line away from the real environment.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out, errOut bytes.Buffer
	env := Env{
		IOStreams:     genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		Now:           func() time.Time { return time.Date(2026, 3, 1, 9, 14, 0, 0, time.UTC) },
		Getenv:        func(string) string { return "" },
		TerminalWidth: func(io.Writer) (int, bool) { return 0, false },
	}
	code = Run(context.Background(), env, args)
	return out.String(), errOut.String(), code
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestALiveClusterIsReadInTheNamespaceOfTheUser(t *testing.T) {
	objects := testdata(t, "cluster.yaml")
	t.Run("one namespace, by those who may see no other", func(t *testing.T) {
		server := apiServer(t, objects, "/apis/batch/v1/jobs", "/api/v1/configmaps", "/apis/kueue.x-k8s.io/v1beta2/workloads")
		out, errOut, code := run(t, "charge", "-n", "team-a", "--server", server.URL, "-o", `jsonpath={range .items[*]}{.owner.name} {.verdict} {.total}{end}{.kueue.version} {.kueue.versionSource}`)
		want := `train Charged {"cpu":"1500m","whole-gpus":"6"}v0.19.0 image`
		if out != want || code != 0 {
			t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
		}
	})
	t.Run("all namespaces", func(t *testing.T) {
		server := apiServer(t, objects)
		out, errOut, code := run(t, "charge", "-A", "--server", server.URL, "-o", "name")
		if !strings.Contains(out, "job.batch/train\n") || !strings.Contains(out, "job.batch/elsewhere\n") || code != 0 {
			t.Errorf("got %q (exit %d, stderr %q), want the jobs of both namespaces", out, code, errOut)
		}
	})
	t.Run("ages are counted from now", func(t *testing.T) {
		server := apiServer(t, objects)
		out, errOut, code := run(t, "explain", "job/train", "-n", "team-a", "--server", server.URL)
		if !strings.Contains(out, "Job team-a/train is PENDING in ClusterQueue cluster-queue (LocalQueue lq, position 1, waiting 14m)") || code != 0 {
			t.Errorf("exit %d, stderr %q, got:\n%s", code, errOut, out)
		}
	})
}

func TestWhatMayNotBeReadIsMissingNotAbsent(t *testing.T) {
	server := apiServer(t, testdata(t, "cluster.yaml"), "/apis/resource.k8s.io/v1/deviceclasses", "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaimtemplates")
	args := []string{"charge", "job/train", "-n", "team-a", "--server", server.URL}
	out, errOut, code := run(t, args...)
	if !strings.Contains(out, "Unknown") || code != 0 {
		t.Errorf("exit %d, want 0 and an unknown charge:\n%s", code, out)
	}
	if !strings.Contains(errOut, "warning: could not read (forbidden): DeviceClass.resource.k8s.io, ResourceClaimTemplate.resource.k8s.io\n") {
		t.Errorf("stderr does not name what was forbidden: %q", errOut)
	}
	if _, errOut, code := run(t, append(args, "--strict")...); code != ExitIncomplete {
		t.Errorf("--strict ends with %d (%s), want %d", code, errOut, ExitIncomplete)
	}
}

func TestQueuesCountTheWorkloadsOfAllNamespaces(t *testing.T) {
	objects := testdata(t, "cluster.yaml")
	args := func(server string) []string {
		return []string{"queues", "-n", "team-a", "--server", server, "-o", `jsonpath={.usageSource}{range .items[*]} {.name} {.pending}{end}`}
	}
	t.Run("by those who may list them", func(t *testing.T) {
		out, errOut, code := run(t, args(apiServer(t, objects).URL)...)
		if want := "Workloads cluster-queue 2"; out != want || code != 0 {
			t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
		}
	})
	t.Run("by those who may see only their own namespace", func(t *testing.T) {
		server := apiServer(t, objects, "/apis/kueue.x-k8s.io/v1beta2/workloads", "/apis/batch/v1/jobs", "/api/v1/configmaps")
		out, errOut, code := run(t, args(server.URL)...)
		if !strings.HasPrefix(out, "Status cluster-queue") || code != 0 {
			t.Errorf("got %q (exit %d), want the usage of the queue's status", out, code)
		}
		if want := "could not read (forbidden outside namespace team-a): Job.batch, Workload.kueue.x-k8s.io\n"; !strings.Contains(errOut, want) {
			t.Errorf("stderr %q does not say %q", errOut, want)
		}
	})
	t.Run("a simulation that lacks the Workloads of others decides nothing", func(t *testing.T) {
		server := apiServer(t, objects, "/apis/kueue.x-k8s.io/v1beta2/workloads")
		out, errOut, code := run(t, "simulate", "-n", "team-a", "--server", server.URL, "-o", `jsonpath={range .workloads[*]}{.owner.name} {.state} {.why};{end}`)
		if !strings.Contains(out, "train Unknown not in the input: Workload;") || strings.Contains(out, "elsewhere") || code != 0 {
			t.Errorf("got %q (exit %d, stderr %q)", out, code, errOut)
		}
	})
}

func TestNothingListedIsNoAnswer(t *testing.T) {
	var forbidden []string
	for _, k := range cluster.Kinds() {
		for _, version := range k.Versions {
			prefix := "/apis/" + k.Group + "/" + version
			if k.Group == "" {
				prefix = "/api/" + version
			}
			forbidden = append(forbidden, prefix+"/"+k.Resource, prefix+"/namespaces/team-a/"+k.Resource)
		}
	}
	server := apiServer(t, testdata(t, "cluster.yaml"), forbidden...)
	out, errOut, code := run(t, "charge", "-n", "team-a", "--server", server.URL)
	if out != "" || code != ExitUnusable || !strings.Contains(errOut, "error: neither workloads nor jobs may be listed here") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
}

func TestANewManifestIsLaidOverTheCluster(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(manifest, []byte(testdata(t, "job.yaml")), 0o644); err != nil {
		t.Fatal(err)
	}
	server := apiServer(t, testdata(t, "cluster.yaml"))
	out, errOut, code := run(t, "charge", "job/new", "-n", "team-a", "-f", manifest, "--server", server.URL, "-o", "jsonpath={.items[0].owner.namespace} {.items[0].total}")
	if want := `team-a {"cpu":"250m","whole-gpus":"2"}`; out != want || code != 0 {
		t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutKueueThereIsNoCharge(t *testing.T) {
	api := apiHandler(t, testdata(t, "cluster.yaml"))
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/apis/kueue.x-k8s.io/") {
			http.NotFound(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}))
	out, errOut, code := run(t, "charge", "-n", "team-a", "--server", server.URL)
	if out != "" || code != ExitUnusable || !strings.HasPrefix(errOut, "error: there is no Kueue in this cluster") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
	manifest := filepath.Join(t.TempDir(), "job.yaml")
	writeFile(t, manifest, testdata(t, "job.yaml"))
	out, errOut, code = run(t, "charge", "job/new", "-n", "team-a", "-f", manifest, "--server", server.URL)
	if !strings.Contains(out, "job/new") || code != 0 || !strings.HasPrefix(errOut, "warning: there is no Kueue in this cluster") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
}
