package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// pageSize is the number of objects asked for in one request, as kubectl does.
const pageSize = 500

// live reads kinds from one API server.
type live struct {
	client    rest.Interface
	cluster   string
	namespace string

	mu     sync.Mutex
	served map[schema.GroupVersion]*discovery
}

// discovery is the answer to what a group version serves, asked once.
type discovery struct {
	once      sync.Once
	resources []string
	err       error
}

func groupPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// serves tells whether the server serves a resource in a version.
func (l *live) serves(ctx context.Context, gv schema.GroupVersion, resource string) (bool, error) {
	l.mu.Lock()
	d := l.served[gv]
	if d == nil {
		d = &discovery{}
		l.served[gv] = d
	}
	l.mu.Unlock()
	d.once.Do(func() {
		var raw []byte
		if raw, d.err = l.client.Get().AbsPath(groupPath(gv)).Do(ctx).Raw(); d.err != nil {
			return
		}
		var found metav1.APIResourceList
		d.err = json.Unmarshal(raw, &found)
		for _, r := range found.APIResources {
			d.resources = append(d.resources, r.Name)
		}
	})
	return slices.Contains(d.resources, resource), d.err
}

// read lists a kind in the first of its versions that is served.
func (l *live) read(ctx context.Context, kind LiveKind) listing {
	for _, version := range kind.Versions {
		gv := schema.GroupVersion{Group: kind.Group, Version: version}
		ok, err := l.serves(ctx, gv, kind.Resource)
		switch {
		case err == nil && !ok, apierrors.IsNotFound(err):
			continue
		case err != nil && !apierrors.IsForbidden(err):
			return failed("GET "+groupPath(gv), err)
		}
		// Where discovery is forbidden the list call itself must tell.
		if res := l.list(ctx, gv, kind); res.missing != NotServed {
			return res
		}
	}
	return listing{missing: NotServed}
}

// list reads all pages. A list whose continuation has expired is begun again, once.
func (l *live) list(ctx context.Context, gv schema.GroupVersion, kind LiveKind) listing {
	path := groupPath(gv)
	if kind.Namespaced && l.namespace != "" {
		path += "/namespaces/" + l.namespace
	}
	path += "/" + kind.Resource
	var err error
	for range 2 {
		c := &collector{apiVersion: gv.String(), kind: kind.Kind, request: "GET " + path, cluster: l.cluster}
		if err = l.pages(ctx, path, c); err == nil {
			return c.listing()
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			break
		}
	}
	return failed("GET "+path, err)
}

func (l *live) pages(ctx context.Context, path string, c *collector) error {
	for token := ""; ; {
		request := l.client.Get().AbsPath(path).Param("limit", strconv.Itoa(pageSize))
		if token != "" {
			request = request.Param("continue", token)
		}
		body, err := request.Stream(ctx)
		if err != nil {
			return err
		}
		next, err := c.page(ctx, body)
		body.Close()
		if err != nil || next == "" {
			return err
		}
		if next == token {
			return apierrors.NewInternalError(fmt.Errorf("the server gives the same page again"))
		}
		token = next
	}
}

// collector gathers the objects of one kind. It is the sink and the placer of the JSON reader.
type collector struct {
	apiVersion, kind string
	request, cluster string
	docs             []Document
	problems         []Problem
}

// page reads one page and returns the token of the next one.
func (c *collector) page(ctx context.Context, body io.Reader) (next string, err error) {
	out := &emitter{ctx: ctx, sink: c}
	r := &jsonReader{w: newWindow(&cancelled{out, body}, 1), out: out, place: c, stamp: typeMeta{c.apiVersion, c.kind}}
	lists := 0
	r.onList = func(env *object, _ bool) {
		lists++
		next = env.meta.Continue
	}
	r.read()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if lists != 1 && len(c.problems) == 0 {
		c.Problem(Problem{Reason: "the answer is not a list"})
	}
	return next, nil
}

// listing is what was gathered. A list that is not whole is as good as none: totals made of a part of it would be wrong.
func (c *collector) listing() listing {
	if len(c.problems) > 0 {
		return listing{problems: c.problems, missing: "the list could not be read: " + c.problems[0].Reason}
	}
	return listing{docs: c.docs, apiVersion: c.apiVersion}
}

// Want implements Sink.
func (c *collector) Want(string, string) bool { return true }

// Document implements Sink.
func (c *collector) Document(d Document) { c.docs = append(c.docs, d) }

// Listed implements Sink.
func (c *collector) Listed(string, string) {}

// Missing implements Sink.
func (c *collector) Missing(string, string, string) {}

// Problem implements Sink.
func (c *collector) Problem(p Problem) {
	c.problems = append(c.problems, Problem{Where: c.request, Reason: p.Reason})
}

func (c *collector) origin(_ *jsonReader, _ found, text []byte) *Origin {
	return &Origin{Cluster: c.cluster, ResourceVersion: jsonString(text, "metadata", "resourceVersion")}
}

// jsonString is the string at a path of keys, empty when there is none.
func jsonString(text []byte, keys ...string) string {
	w := windowOn(text, 0, 1)
	for _, key := range keys {
		_, at, ok := jsonStep(w, step{key, -1})
		if !ok {
			return ""
		}
		w.pos = at
	}
	if c, ok := w.next(); !ok || c != '"' {
		return ""
	}
	value, err := w.readString()
	if err != nil {
		return ""
	}
	return string(value)
}

func (c *collector) line(_ *jsonReader, line int) int { return line }
