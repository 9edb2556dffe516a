package collect

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Options say how a dump is made.
type Options struct {
	// Namespace is the only one that is read; empty: all.
	Namespace string
	// Program is this program's version, Time the time of the dump.
	Program string
	Time    time.Time
	// ReplaceNames gives every namespace, job, queue, node and other object another name.
	ReplaceNames bool
}

// Dump gathers the objects of a cluster. It is a [source.Sink]; nothing is written before [Dump.WriteTo].
type Dump struct {
	opts  Options
	lists []*list
	gaps  []cluster.MissingKind
	// Problems are what went wrong while the cluster was read.
	Problems []source.Problem
}

// list holds objects of one kind, in one namespace or in all.
type list struct {
	kind                  cluster.Kind
	apiVersion, namespace string
	// whole tells that it holds all there are; part, that it holds single objects, which tell nothing of others.
	whole, part bool
	items       []map[string]any
}

// New starts a dump.
func New(opts Options) *Dump { return &Dump{opts: opts} }

// Want implements source.Sink.
func (d *Dump) Want(apiVersion, kind string) bool {
	_, ok := kindOf(apiVersion, kind)
	return ok
}

func kindOf(apiVersion, kind string) (cluster.Kind, bool) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return cluster.Kind{}, false
	}
	return cluster.FindKind(schema.GroupKind{Group: gv.Group, Kind: kind})
}

// Document implements source.Sink: it takes an object without what may hold secrets.
func (d *Dump) Document(doc source.Document) { d.document(doc, false) }

func (d *Dump) document(doc source.Document, part bool) {
	k, ok := kindOf(doc.APIVersion, doc.Kind)
	if !ok || k.GroupKind == cluster.ConfigMap && !bytes.Contains(doc.JSON, []byte(ManagerConfigKey)) {
		return
	}
	var o map[string]any
	decoder := json.NewDecoder(bytes.NewReader(doc.JSON))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		d.Problem(source.Problem{Where: doc.Origin.String(),
			Reason: fmt.Sprintf("%s can't be decoded: %v", doc.Kind, err)})
		return
	}
	strip(o)
	namespace := ""
	if k.Namespaced && !part && (d.opts.Namespace != "" || d.isMissing(k.GroupKind)) {
		namespace = doc.Namespace()
	}
	if part && d.holds(k, o) {
		return
	}
	l := d.listOf(list{kind: k, apiVersion: doc.APIVersion, namespace: namespace, part: part})
	l.items = append(l.items, o)
}

// holds tells whether an object is in the dump already.
func (d *Dump) holds(k cluster.Kind, o map[string]any) bool {
	for _, l := range d.lists {
		if l.kind.GroupKind != k.GroupKind {
			continue
		}
		for _, held := range l.items {
			if text(held, "metadata", "name") == text(o, "metadata", "name") &&
				text(held, "metadata", "namespace") == text(o, "metadata", "namespace") {
				return true
			}
		}
	}
	return false
}

// listOf finds or begins a list.
func (d *Dump) listOf(like list) *list {
	for _, l := range d.lists {
		if l.kind.GroupKind == like.kind.GroupKind && l.apiVersion == like.apiVersion &&
			l.namespace == like.namespace && l.part == like.part {
			return l
		}
	}
	d.lists = append(d.lists, &like)
	return &like
}

// Listed implements source.Sink.
func (d *Dump) Listed(apiVersion, kind string) {
	d.listed(apiVersion, kind, d.opts.Namespace)
}

func (d *Dump) listed(apiVersion, kind, namespace string) {
	k, ok := kindOf(apiVersion, kind)
	if !k.Namespaced {
		namespace = ""
	}
	if ok {
		d.listOf(list{kind: k, apiVersion: apiVersion, namespace: namespace}).whole = true
	}
}

// Missing implements source.Sink.
func (d *Dump) Missing(group, kind, reason string) {
	d.gaps = append(d.gaps, cluster.MissingKind{Group: group, Kind: kind, Reason: reason})
}

func (d *Dump) isMissing(gk schema.GroupKind) bool {
	return slices.ContainsFunc(d.gaps,
		func(m cluster.MissingKind) bool { return m.Group == gk.Group && m.Kind == gk.Kind })
}

// Forbidden tells that a kind may not be listed.
func (d *Dump) Forbidden(gk schema.GroupKind) bool {
	return slices.ContainsFunc(d.gaps, func(m cluster.MissingKind) bool {
		return m.Group == gk.Group && m.Kind == gk.Kind && strings.HasPrefix(m.Reason, "forbidden")
	})
}

// Part takes single objects, which tell nothing of others: Kueue's manager in a namespace that is not read.
func (d *Dump) Part() source.Sink { return single{d} }

// single is a dump while single objects are read.
type single struct{ *Dump }

func (s single) Document(doc source.Document) { s.document(doc, true) }

// Listed tells nothing of a list that was not asked for as a whole.
func (s single) Listed(string, string) {}

// In takes kinds that may not be listed in all namespaces from one. They stay recorded as missing.
func (d *Dump) In(namespace string) source.Sink { return within{d, namespace} }

// within is a dump while one namespace is read.
type within struct {
	*Dump
	namespace string
}

func (w within) Listed(apiVersion, kind string) { w.listed(apiVersion, kind, w.namespace) }
func (w within) Missing(string, string, string) {}

// Problem implements source.Sink.
func (d *Dump) Problem(p source.Problem) { d.Problems = append(d.Problems, p) }

// Objects counts the objects, Kinds the kinds of which there are any.
func (d *Dump) Objects() (objects, kinds int) {
	for _, l := range d.lists {
		if objects += len(l.items); len(l.items) > 0 {
			kinds++
		}
	}
	return objects, kinds
}

// Unread names the kinds that could not be read, those that the cluster does not serve left out.
func (d *Dump) Unread() []string {
	var out []string
	for _, g := range d.gaps {
		if g.Reason != source.NotServed {
			out = append(out, schema.GroupKind{Group: g.Group, Kind: g.Kind}.String())
		}
	}
	return out
}

// Root is the directory inside the archive.
const Root = "gpu-quota-dump/"

const partsRoot = source.PartsDirectory + "/"

// path is where a list stands: in the layout of a must-gather when it is of one namespace.
func (l *list) path() string {
	group := l.kind.Group
	if group == "" {
		group = "core"
	}
	if l.part {
		return partsRoot + group + "/" + l.kind.Resource + ".json"
	}
	if l.namespace != "" {
		return Root + "namespaces/" + l.namespace + "/" + group + "/" + l.kind.Resource + ".json"
	}
	return Root + l.kind.Resource + "." + group + ".json"
}

// Write writes the dump as a tar.gz.
func (d *Dump) Write(w io.Writer) error {
	if d.opts.ReplaceNames {
		d.replaceNames()
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	record := cluster.Collection{
		APIVersion: cluster.CollectionAPIVersion, Kind: cluster.CollectionKind, Program: d.opts.Program,
		Time: d.opts.Time.UTC().Format(time.RFC3339), Namespace: d.opts.Namespace, NamesReplaced: d.opts.ReplaceNames,
		Listed: []cluster.CollectedKind{}, Missing: append([]cluster.MissingKind{}, d.gaps...),
	}
	for _, l := range d.lists {
		if l.whole {
			record.Listed = append(record.Listed,
				cluster.CollectedKind{APIVersion: l.apiVersion, Kind: l.kind.Kind, Objects: len(l.items)})
		}
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err == nil {
		err = d.add(t, Root+"collection.json", text)
	}
	for _, l := range d.lists {
		if err != nil {
			return err
		}
		if text, err = l.text(); err == nil {
			err = d.add(t, l.path(), text)
		}
	}
	for _, finish := range []func() error{t.Close, z.Close} {
		if err == nil {
			err = finish()
		}
	}
	return err
}

func (d *Dump) add(t *tar.Writer, name string, content []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content)),
		ModTime: d.opts.Time.Truncate(time.Second)}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(content)
	return err
}

// text is the list as JSON, one line for each object. A list that is not whole is of no type, so that nobody
// takes it for all there is.
func (l *list) text() ([]byte, error) {
	apiVersion, kind := "v1", "List"
	if l.whole {
		apiVersion, kind = l.apiVersion, l.kind.Kind+"List"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"apiVersion":%q,"kind":%q,"metadata":{},"items":[`, apiVersion, kind)
	for i, o := range l.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		item, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		b.Write(item)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}
