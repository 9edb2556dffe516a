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
	selector  string
	progress  *Progress

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
	if kind.Name != "" {
		return l.one(ctx, path+"/"+kind.Name, gv, kind)
	}
	var err error
	for range 2 {
		c := l.collector("GET "+path, gv, kind)
		if err = l.pages(ctx, path, c); err == nil {
			out := c.listing()
			out.part = l.selector != ""
			return out
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			break
		}
	}
	return failed("GET "+path, err)
}

func (l *live) collector(request string, gv schema.GroupVersion, kind LiveKind) *collector {
	return &collector{apiVersion: gv.String(), kind: kind.Kind, request: request, cluster: l.cluster,
		single: kind.Name != "", metadataOnly: kind.MetadataOnly, progress: l.progress}
}

// one reads a single object, which may be absent.
func (l *live) one(ctx context.Context, path string, gv schema.GroupVersion, kind LiveKind) listing {
	c := l.collector("GET "+path, gv, kind)
	body, err := c.accepting(l.client.Get().AbsPath(path), "").Stream(ctx)
	if apierrors.IsNotFound(err) {
		return listing{part: true}
	}
	if err == nil {
		_, err = c.page(ctx, body)
		body.Close()
	}
	if err != nil {
		return failed(c.request, err)
	}
	out := c.listing()
	out.part = true
	return out
}

func (l *live) pages(ctx context.Context, path string, c *collector) error {
	for token := ""; ; {
		request := c.accepting(l.client.Get().AbsPath(path), "List").Param("limit", strconv.Itoa(pageSize))
		if l.selector != "" {
			request = request.Param("labelSelector", l.selector)
		}
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
	// single asks for one object, metadataOnly for no more than its metadata.
	single, metadataOnly bool
	progress             *Progress
	docs                 []Document
	problems             []Problem
}

// metadataKind is the kind under which the server gives the metadata of any object.
const metadataKind = "PartialObjectMetadata"

// accepting asks for metadata only, where that is enough; a server that can't do it gives whole objects.
func (c *collector) accepting(request *rest.Request, suffix string) *rest.Request {
	if !c.metadataOnly {
		return request
	}
	return request.SetHeader("Accept", "application/json;as="+metadataKind+suffix+";g=meta.k8s.io;v=v1",
		"application/json")
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
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case r.w.err != nil:
		return "", fmt.Errorf("the answer to %s broke off: %w", c.request, r.w.err)
	case c.single && len(c.docs) == 1, len(c.problems) > 0:
	case c.single:
		c.Problem(Problem{Reason: "the answer is not an object"})
	case lists != 1:
		c.Problem(Problem{Reason: "the answer is not a list"})
	}
	return next, nil
}

// listing is what was gathered. A list that is not whole is as good as none: totals made of a part of it would be
// wrong.
func (c *collector) listing() listing {
	if len(c.problems) > 0 {
		return listing{problems: c.problems, missing: "the list could not be read: " + c.problems[0].Reason}
	}
	return listing{docs: c.docs, apiVersion: c.apiVersion}
}

// Want implements Sink.
func (c *collector) Want(string, string) bool { return true }

// Document implements Sink.
func (c *collector) Document(d Document) {
	if d.Kind == metadataKind {
		d = c.named(d)
	}
	c.progress.objects.Add(1)
	c.docs = append(c.docs, d)
}

// named gives metadata the type of the object it is of.
func (c *collector) named(d Document) Document {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.JSON, &fields); err != nil {
		return d
	}
	for key, value := range map[string]string{"apiVersion": c.apiVersion, "kind": c.kind} {
		fields[key] = json.RawMessage(strconv.Quote(value))
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return d
	}
	d.APIVersion, d.Kind, d.JSON = c.apiVersion, c.kind, text
	return d
}

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
