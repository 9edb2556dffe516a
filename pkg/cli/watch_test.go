package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

const (
	allWorkloads     = "/apis/kueue.x-k8s.io/v1beta2/workloads"
	workloadsOfTeamA = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads"
)

// watched serves one cluster after another: whoever watches Workloads is told of a change, and the next one is served.
type watched struct {
	clusters []http.Handler
	// events are what the n-th watch says before it ends; a cluster that is served anew is in force by then.
	events []string
	watch  atomic.Int64
	// listed is sent a value whenever Workloads were listed.
	listed chan struct{}
}

func serveWatched(t *testing.T, clusters []http.Handler, events ...string) *httptest.Server {
	t.Helper()
	return serve(t, &watched{clusters: clusters, events: events, listed: make(chan struct{}, 8)})
}

func (s *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	n := int(s.watch.Load())
	switch {
	case r.URL.Path == workloadsOfTeamA && query.Get("watch") == "true":
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		select {
		case <-s.listed:
		case <-r.Context().Done():
			return
		}
		s.watch.Add(1)
		if n < len(s.events) {
			fmt.Fprint(w, s.events[n])
		}
	case r.URL.Path == workloadsOfTeamA && query.Get("limit") == "1":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[]}`)
	default:
		s.clusters[min(n, len(s.clusters)-1)].ServeHTTP(w, r)
		if r.URL.Path == allWorkloads {
			s.listed <- struct{}{}
		}
	}
}

func modified(workload, job string) string {
	return fmt.Sprintf(`{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,"namespace":"team-a",`+
		`"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":%q,"uid":"u"}]}}}`+"\n", workload, job)
}

// admitted is the cluster after Kueue has admitted the job.
func admitted(t *testing.T) string {
	t.Helper()
	pending := testdata(t, "cluster.yaml")
	condition := strings.Index(pending, "  - type: QuotaReserved")
	if condition < 0 {
		t.Fatal("cluster.yaml holds no pending Workload")
	}
	rest := strings.Index(pending[condition:], "\n---")
	return pending[:condition] + `  - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: Quota reserved in ClusterQueue cluster-queue, lastTransitionTime: "2026-03-01T09:10:00Z"}
  - {type: Admitted, status: "True", reason: Admitted, message: The workload is admitted, lastTransitionTime: "2026-03-01T09:10:00Z"}` + pending[condition:][rest:]
}

func TestWatchExplainsUntilAdmitted(t *testing.T) {
	pending := apiHandler(t, testdata(t, "cluster.yaml"))
	for name, events := range map[string][]string{
		"told of the change":                    {modified("job-train-5f3c2", "train")},
		"told of others first":                  {modified("job-other", "other") + modified("job-train-5f3c2", "train")},
		"the watch ends, as watches do":         {""},
		"a new Workload of the job, then again": {modified("new", "train")},
	} {
		t.Run(name, func(t *testing.T) {
			server := serveWatched(t, []http.Handler{pending, apiHandler(t, admitted(t))}, events...)
			out, errOut, code := run(t, "explain", "job/train", "-n", "team-a", "--watch", "--server", server.URL, "-o",
				`jsonpath={range .items[*]}{.reported.state}{"\n"}{end}`)
			if want := "Pending\nAdmitted\n"; out != want || code != 0 {
				t.Errorf("got %q (exit %d, stderr %q), want %q", out, code, errOut, want)
			}
		})
	}
}

func TestWatchHasNothingToWaitFor(t *testing.T) {
	server := serveWatched(t, []http.Handler{apiHandler(t, admitted(t))})
	out, errOut, code := run(t, "explain", "job/train", "-n", "team-a", "-w", "--server", server.URL)
	if strings.Count(out, "is ADMITTED") != 1 || code != 0 {
		t.Errorf("exit %d, stderr %q, stdout:\n%s", code, errOut, out)
	}
}

func TestWatchNeedsTheRight(t *testing.T) {
	forbidding := apiHandler(t, testdata(t, "cluster.yaml"), workloadsOfTeamA)
	out, errOut, code := run(t, "explain", "job/train", "-n", "team-a", "-w", "--server", serve(t, forbidding).URL)
	if want := "error: cannot watch Workloads: not for you\n"; errOut != want || out != "" || code != ExitUnusable {
		t.Errorf("exit %d, stdout %q, stderr %q, want %q", code, out, errOut, want)
	}
}

func TestWatchIsForLiveClusters(t *testing.T) {
	for _, args := range [][]string{{"--from", "demo"}, {"-f", "job.yaml"}} {
		_, errOut, code := run(t, append([]string{"explain", "job/train", "--watch"}, args...)...)
		if !strings.Contains(errOut, "--watch follows a live cluster; it does not go with --from or -f") || code != ExitUnusable {
			t.Errorf("%q: exit %d, stderr %q", args, code, errOut)
		}
	}
}
