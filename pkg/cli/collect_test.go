package cli

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// collected collects from a server and returns the file of the dump, and what was said.
func collected(t *testing.T, server *httptest.Server, args ...string) (file, said string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "dump.tar.gz")
	out, errOut, code := run(t, append([]string{"collect", "-o", file, "--server", server.URL}, args...)...)
	if code != 0 || out != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
	return file, strings.ReplaceAll(errOut, file, "dump.tar.gz")
}

// unpacked is the text of everything in a dump.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// clusterOf serves the objects of a recorded dump.
func clusterOf(t *testing.T, objects []unstructured.Unstructured, forbidden ...string) *httptest.Server {
	t.Helper()
	var documents []string
	for _, o := range objects {
		documents = append(documents, string(marshal(t, o.Object)))
	}
	return apiServer(t, strings.Join(documents, "\n---\n"), forbidden...)
}

// TestADumpGivesTheAnswersOfTheCluster collects every eighth recorded cluster, to save time. Half of these are
// looked at with other names, too: their numbers, verdicts and states are the same.
func TestADumpGivesTheAnswersOfTheCluster(t *testing.T) {
	for turn, file := range scenarios(t) {
		if turn%8 != 0 {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			server := clusterOf(t, dumped(t, file))
			live := answer(t, "explain", "-A", "--server", server.URL)
			dump, _ := collected(t, server)
			if diff := cmp.Diff(live, answer(t, "explain", "--from", dump)); diff != "" {
				t.Errorf("answers (-live +dump):\n%s", diff)
			}
			if turn%16 != 0 {
				return
			}
			renamed, _ := collected(t, server, "--redact", "names")
			want, got := essence(t, "-A", "--server", server.URL), essence(t, "--from", renamed)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-live +with other names):\n%s", diff)
			}
		})
	}
}

// essence are the answers without the names of objects.
func essence(t *testing.T, args ...string) []string {
	t.Helper()
	out, errOut, code := run(t, append([]string{"explain", "-o", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	var list struct {
		Items []struct {
			Charge struct {
				Verdict          string
				Total, Published map[string]string
				PodSets          []struct{ Count int }
				Problems         []struct{ Code string }
				Missing          []string
			}
			Reported struct{ State, Reason string }
			Steps    []struct{ Check, Result string }
			Quota    []struct{ Resource, Flavor, Requested, Used, Free string }
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, item := range list.Items {
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	slices.Sort(lines)
	return lines
}

// private is a cluster in which every place that can hold a secret holds one.
const private = `
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system, annotations: {note: SECRET-1}}
data:
  other: SECRET-2
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [batch]}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: others, namespace: kueue-system}
data: {key: SECRET-3}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: batch}
stringData: {key: SECRET-4}
---
apiVersion: v1
kind: Namespace
metadata: {name: batch, labels: {kubernetes.io/metadata.name: batch}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: alice-queue, namespace: batch}
spec: {clusterQueue: moonshot}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: on-demand}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: moonshot}
spec:
  cohortName: research
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: batch}}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: on-demand, resources: [{name: cpu, nominalQuota: "4"}]}]}]
---
apiVersion: batch/v1
kind: Job
metadata:
  name: moonshot-train
  namespace: batch
  uid: u1
  managedFields: [{manager: SECRET-5}]
  labels: {kueue.x-k8s.io/queue-name: alice-queue, env: prod}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"env": "SECRET-6"}'
    kueue.x-k8s.io/job-min-parallelism: "1"
spec:
  parallelism: 2
  template:
    metadata: {annotations: {vault: SECRET-7}}
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: i
        command: [run, --token=SECRET-8]
        args: [SECRET-9]
        env: [{name: TOKEN, value: SECRET-10}, {name: OTHER, valueFrom: {secretKeyRef: {name: SECRET-11, key: k}}}]
        livenessProbe: {httpGet: {path: /, port: 1, httpHeaders: [{name: Authorization, value: SECRET-12}]}}
        resources: {requests: {cpu: "1"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: job-moonshot-train-5f3c2
  namespace: batch
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: moonshot-train, uid: u1, controller: true}]
spec:
  queueName: alice-queue
  podSets:
  - name: main
    count: 2
    template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, env: [{name: TOKEN, value: SECRET-13}], resources: {requests: {cpu: "1"}}}]}}
status:
  conditions:
  - {type: QuotaReserved, status: "False", reason: Pending, message: "couldn't assign flavors to pod set main for moonshot-train: insufficient quota for cpu.", lastTransitionTime: "2026-03-01T09:00:00Z"}
---
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: wrapped, namespace: batch}
spec:
  components:
  - template: {apiVersion: v1, kind: Secret, metadata: {name: x}, data: {key: SECRET-14}}
  - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: y}, data: {key: SECRET-15}}
`

func TestADumpHoldsNoSecrets(t *testing.T) {
	dump, said := collected(t, apiServer(t, private))
	text := unpacked(t, dump)
	if found := regexp.MustCompile(`SECRET-\d+`).FindAllString(text, -1); found != nil {
		t.Errorf("the dump holds %v", found)
	}
	for _, want := range []string{`{"name":"TOKEN"},{"name":"OTHER"}`, `"kueue.x-k8s.io/job-min-parallelism":"1"`, `"env":"prod"`, "managedJobsNamespaceSelector"} {
		if !strings.Contains(text, want) {
			t.Errorf("the dump lacks %s", want)
		}
	}
	if want := "wrote dump.tar.gz: 8 objects of 8 kinds\n"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

func TestNamesAreReplacedEverywhere(t *testing.T) {
	dump, _ := collected(t, apiServer(t, private), "--redact", "names")
	text := unpacked(t, dump)
	for _, name := range []string{"moonshot", "alice", "research", `"batch"`, "wrapped"} {
		if strings.Contains(text, name) {
			t.Errorf("the dump names %s", name)
		}
	}
	out, errOut, code := run(t, "explain", "job/job-1", "-n", "namespace-1", "--from", dump, "-o", `jsonpath={range .items[*]}{.charge.verdict} {.charge.workload.name} {.localQueue} {.clusterQueue} {.charge.total} {.reported.message}{end}`)
	want := `Charged job-job-1-5f3c2 localqueue-1 clusterqueue-1 {"cpu":"2"} couldn't assign flavors to pod set main for job-1: insufficient quota for cpu.`
	if out != want || code != 0 {
		t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
	}
}

func TestADumpOfOneNamespace(t *testing.T) {
	objects := testdata(t, "cluster.yaml")
	server := apiServer(t, objects, "/apis/batch/v1/jobs", "/api/v1/configmaps", "/apis/kueue.x-k8s.io/v1beta2/workloads", "/apis/resource.k8s.io/v1/deviceclasses")
	kubeconfig := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"s","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"s","namespace":"team-a"}}]}`, server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-n", "team-a"}, {"--kubeconfig", kubeconfig}} {
		dumpOfANamespace(t, server, args)
	}
}

func dumpOfANamespace(t *testing.T, server *httptest.Server, args []string) {
	t.Helper()
	dump, said := collected(t, server, args...)
	wantMissing := "DeviceClass.resource.k8s.io\n"
	if args[0] != "-n" {
		wantMissing = "Job.batch, DeviceClass.resource.k8s.io, Workload.kueue.x-k8s.io\n"
	}
	if !strings.Contains(said, "warning: could not read, and recorded as missing: "+wantMissing) {
		t.Errorf("said %q", said)
	}
	live, liveErr, liveCode := run(t, "explain", "-n", "team-a", "--server", server.URL, "-o", "json")
	got, gotErr, gotCode := run(t, "explain", "-n", "team-a", "--from", dump, "-o", "json")
	if diff := cmp.Diff(live, withoutPlaces(got)); diff != "" || liveCode != gotCode {
		t.Errorf("exit %d and %d, stderr %q and %q, answers (-live +dump):\n%s", liveCode, gotCode, liveErr, gotErr, diff)
	}
	if _, errOut, code := run(t, "explain", "-n", "team-a", "--from", dump, "--strict"); code != ExitIncomplete {
		t.Errorf("--strict ends with %d (%s), want %d: what was forbidden is missing", code, errOut, ExitIncomplete)
	}
	if _, _, code := run(t, "collect", "-n", "team-a", "-o", filepath.Join(t.TempDir(), "x.tgz"), "--strict", "--server", server.URL); code != ExitIncomplete {
		t.Errorf("collect --strict ends with %d, want %d", code, ExitIncomplete)
	}
}

func TestCollectLeavesNothingBehindWhenItFails(t *testing.T) {
	dir := t.TempDir()
	server := apiServer(t, testdata(t, "cluster.yaml"))
	server.Close()
	cases := map[string]struct {
		args []string
		want string
	}{
		"the server is gone":     {[]string{"-o", filepath.Join(dir, "x.tar.gz"), "--server", server.URL}, "error: cannot read from the API server"},
		"no cluster":             {[]string{"-o", filepath.Join(dir, "x.tar.gz")}, "error: no cluster to collect from"},
		"no file":                {nil, "error: name the file to write with -o"},
		"another format":         {[]string{"-o", filepath.Join(dir, "x.zip")}, "error: the dump is a tar.gz"},
		"nothing to redact":      {[]string{"-o", filepath.Join(dir, "x.tgz"), "--redact", "numbers"}, `error: --redact must be one of names, not "numbers"`},
		"arguments":              {[]string{"job/train"}, `error: collect takes no arguments, not "job/train"`},
		"a directory that isn't": {[]string{"-o", filepath.Join(dir, "none", "x.tgz"), "--server", apiServer(t, testdata(t, "cluster.yaml")).URL}, "error: writing the dump: "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, errOut, code := run(t, append([]string{"collect"}, c.args...)...)
			if code != ExitUnusable || out != "" || !strings.HasPrefix(errOut, c.want) {
				t.Errorf("exit %d, stdout %q, stderr %q, want %q", code, out, errOut, c.want)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestADumpToStandardOutput(t *testing.T) {
	out, errOut, code := run(t, "collect", "-o", "-", "--server", apiServer(t, testdata(t, "cluster.yaml")).URL)
	if code != 0 || !strings.HasPrefix(out, "\x1f\x8b") || !strings.HasPrefix(errOut, "wrote -: ") {
		t.Errorf("exit %d, stderr %q, %d bytes", code, errOut, len(out))
	}
}
