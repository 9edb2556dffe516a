package source

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// apiServer answers GET requests by path and query, and counts them.
type apiServer struct {
	mu      sync.Mutex
	answers map[string][]string // the n-th answer to a request; the last one stays
	asked   map[string]int
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := strings.TrimSuffix(strings.Replace(r.URL.RequestURI(), "limit=500", "", 1), "?")
	n := s.asked[request]
	s.asked[request]++
	answers := s.answers[request]
	if len(answers) == 0 {
		answers = []string{refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")}
	}
	answer := answers[min(n, len(answers)-1)]
	w.Header().Set("Content-Type", "application/json")
	var status metav1.Status
	if json.Unmarshal([]byte(answer), &status) == nil && status.Kind == "Status" {
		w.WriteHeader(int(status.Code))
	}
	fmt.Fprint(w, answer)
}

func refusal(code int, reason metav1.StatusReason, message string) string {
	out, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
	if err != nil {
		panic(err)
	}
	return string(out)
}

func resources(names ...string) string {
	var list []string
	for _, n := range names {
		list = append(list, fmt.Sprintf(`{"name":%q}`, n))
	}
	return `{"kind":"APIResourceList","resources":[` + strings.Join(list, ",") + `]}`
}

var (
	jobs = LiveKind{Group: "batch", Resource: "jobs", Kind: "Job", Versions: []string{"v1"}, Namespaced: true}
	pods = LiveKind{Resource: "pods", Kind: "Pod", Versions: []string{"v1"}, Namespaced: true}
	node = LiveKind{Resource: "nodes", Kind: "Node", Versions: []string{"v1"}}
	wl   = LiveKind{Group: "kueue.x-k8s.io", Resource: "workloads", Kind: "Workload", Versions: []string{"v1beta2", "v1beta1"}, Namespaced: true}
)

var nodeMetadata = LiveKind{Resource: "nodes", Kind: "Node", Versions: []string{"v1"}, MetadataOnly: true}

func named(kind LiveKind, name string) LiveKind {
	kind.Name = name
	return kind
}

func readLive(t *testing.T, s *apiServer, namespace string, kinds ...LiveKind) (*recorder, error) {
	t.Helper()
	s.asked = map[string]int{}
	server := httptest.NewServer(s)
	defer server.Close()
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer = &server.URL
	r := &recorder{}
	err := ReadLive(context.Background(), LiveOptions{Getter: flags, Kinds: kinds, Namespace: namespace, Cluster: "prod", FirstSeq: 3}, r)
	return r, err
}

func TestLive(t *testing.T) {
	forbidden := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `nodes is forbidden: User "me" cannot list`)
	expired := refusal(http.StatusGone, metav1.StatusReasonExpired, "the continue token is too old")
	core, batch := resources("pods", "pods/log", "nodes"), resources("jobs")
	podA := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","resourceVersion":"5"}}]}`
	page1 := `{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"more"},"items":[{"metadata":{"name":"a"}}]}`
	page2 := `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"b"}}]}`
	cases := []struct {
		name      string
		answers   map[string][]string
		namespace string
		kinds     []LiveKind
		want      string
	}{{
		name:    "kinds in the order asked for",
		answers: map[string][]string{"/api/v1": {core}, "/apis/batch/v1": {batch}, "/api/v1/pods": {podA}, "/apis/batch/v1/jobs": {`{"apiVersion":"batch/v1","items":[],"kind":"JobList","metadata":{}}`}},
		kinds:   []LiveKind{jobs, pods},
		want: `
listed batch/v1/Job
prod v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"5"}}
listed v1/Pod
`,
	}, {
		name:    "page by page",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/pods": {page1}, "/api/v1/pods?continue=more&": {page2}},
		kinds:   []LiveKind{pods},
		want: `
prod v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}
prod v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}
listed v1/Pod
`,
	}, {
		name:    "the continuation expires: the list is begun again",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/pods": {page1, page2}, "/api/v1/pods?continue=more&": {expired}},
		kinds:   []LiveKind{pods},
		want: `
prod v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}
listed v1/Pod
`,
	}, {
		name:    "it expires again: no part of the list is used",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/pods": {page1}, "/api/v1/pods?continue=more&": {expired}},
		kinds:   []LiveKind{pods},
		want: `
problem GET /api/v1/pods: the list failed: the continue token is too old
missing Pod.: the list failed: the continue token is too old
`,
	}, {
		name:      "one namespace, and what has none",
		answers:   map[string][]string{"/api/v1": {core}, "/api/v1/namespaces/team-a/pods": {podA}, "/api/v1/nodes": {`{"kind":"NodeList","apiVersion":"v1","items":null}`}},
		namespace: "team-a",
		kinds:     []LiveKind{pods, node},
		want: `
prod v1/Pod {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"5"}}
listed v1/Pod
listed v1/Node
`,
	}, {
		name:    "an old version is served, or the kind is not, or it is forbidden",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/nodes": {forbidden}, "/apis/kueue.x-k8s.io/v1beta1": {resources("workloads")}, "/apis/kueue.x-k8s.io/v1beta1/workloads": {`{"apiVersion":"kueue.x-k8s.io/v1beta1","items":[{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload"}],"kind":"WorkloadList"}`}},
		kinds:   []LiveKind{node, jobs, wl},
		want: `
missing Node.: forbidden: nodes is forbidden: User "me" cannot list
missing Job.batch: not served
prod kueue.x-k8s.io/v1beta1/Workload {"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload"}
listed kueue.x-k8s.io/v1beta1/Workload
`,
	}, {
		name:    "discovery is forbidden: the list itself tells",
		answers: map[string][]string{"/apis/kueue.x-k8s.io/v1beta2": {forbidden}, "/apis/kueue.x-k8s.io/v1beta1": {forbidden}, "/apis/kueue.x-k8s.io/v1beta1/workloads": {`{"kind":"WorkloadList","apiVersion":"kueue.x-k8s.io/v1beta1","items":[]}`}},
		kinds:   []LiveKind{wl},
		want:    "listed kueue.x-k8s.io/v1beta1/Workload\n",
	}, {
		name:    "an answer that breaks off, and one that is no list",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/pods": {podA[:len(podA)-5]}, "/api/v1/nodes": {`{"kind":"Hello"}`}},
		kinds:   []LiveKind{pods, node},
		want: `
problem GET /api/v1/pods: the input ends in the middle of the object that begins at line 1
missing Pod.: the list could not be read: the input ends in the middle of the object that begins at line 1
problem GET /api/v1/nodes: the answer is not a list
missing Node.: the list could not be read: the answer is not a list
`,
	}, {
		name:    "a server that fails",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/pods": {refusal(500, metav1.StatusReasonInternalError, "etcd is gone")}},
		kinds:   []LiveKind{pods},
		want: `
problem GET /api/v1/pods: the list failed: etcd is gone
missing Pod.: the list failed: etcd is gone
`,
	}, {
		name:    "metadata only: the objects get the type they are of",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/nodes": {`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"n"}}]}`}},
		kinds:   []LiveKind{nodeMetadata},
		want: `
prod v1/Node {"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}
listed v1/Node
`,
	}, {
		name:    "one object by name, and one that is not there",
		answers: map[string][]string{"/api/v1": {core}, "/api/v1/namespaces/team-a/pods/a": {`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`}},
		kinds:   []LiveKind{named(pods, "a"), named(node, "gone")}, namespace: "team-a",
		want: "prod v1/Pod {\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}\n",
	}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &apiServer{answers: c.answers}
			r, err := readLive(t, s, c.namespace, c.kinds...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimLeft(c.want, "\n"), r.String()); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if s.asked["/api/v1"] > 1 {
				t.Errorf("discovery was asked %d times", s.asked["/api/v1"])
			}
		})
	}
}

func TestLiveOrigin(t *testing.T) {
	s := &apiServer{answers: map[string][]string{"/api/v1": {resources("pods")}, "/api/v1/pods": {`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"resourceVersion":"5"}}]}`}}}
	r, err := readLive(t, s, "", pods)
	if err != nil {
		t.Fatal(err)
	}
	want := Document{APIVersion: "v1", Kind: "Pod", Seq: 3, JSON: []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"5"}}`), Origin: &Origin{Cluster: "prod", ResourceVersion: "5"}}
	if diff := cmp.Diff(want, r.docs[0], cmp.AllowUnexported(Origin{})); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestLiveRefused(t *testing.T) {
	unauthorized := refusal(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "who are you?")
	_, err := readLive(t, &apiServer{answers: map[string][]string{"/api/v1": {unauthorized}, "/apis/batch/v1": {unauthorized}}}, "", pods, jobs)
	if !apierrors.IsUnauthorized(err) {
		t.Errorf("error %v, want unauthorized", err)
	}

	nowhere := "http://127.0.0.1:1"
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer = &nowhere
	err = ReadLive(context.Background(), LiveOptions{Getter: flags, Kinds: []LiveKind{pods}}, &recorder{})
	if err == nil || !strings.Contains(err.Error(), "cannot read from the API server") {
		t.Errorf("error %v, want that the server cannot be reached", err)
	}
}

func TestLiveProgress(t *testing.T) {
	s := &apiServer{answers: map[string][]string{"/api/v1": {resources("pods")}, "/api/v1/pods": {`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`}}, asked: map[string]int{}}
	server := httptest.NewServer(s)
	defer server.Close()
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer = &server.URL
	p := &Progress{}
	if err := ReadLive(context.Background(), LiveOptions{Getter: flags, Kinds: []LiveKind{pods, node}, Progress: p}, &recorder{}); err != nil {
		t.Fatal(err)
	}
	if read, asked := p.Kinds(); read != 2 || asked != 2 || p.Objects() != 2 {
		t.Errorf("%d of %d kinds, %d objects; want 2 of 2, 2", read, asked, p.Objects())
	}
}
