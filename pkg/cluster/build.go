package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Builder collects documents into a Snapshot. Objects are decoded in parallel while reading goes on.
type Builder struct {
	wants  func(schema.GroupKind) bool
	shared map[kindVersion]decodeFunc

	queue   chan job
	workers sync.WaitGroup
	mu      sync.Mutex
	done    []result

	coverage Coverage
	problems []placed
	live     bool
	seq      int
}

// job is one document waiting to be decoded.
type job struct {
	doc  source.Document
	kind *Kind
	opts InputOptions
	seq  int
}

type result struct {
	object  *Object
	kind    schema.GroupKind
	problem *source.Problem
	seq     int
}

type placed struct {
	problem source.Problem
	seq     int
}

// InputOptions say how the documents of one input are to be taken.
type InputOptions struct {
	// Laid marks objects that are laid over the cluster (-f): they never passed an API server.
	Laid bool
	// Whole tells that laid objects are all there is: there is no cluster below them.
	Whole bool
	// Namespace is given to namespaced objects that name none; empty means "default".
	Namespace string
	// Live marks a snapshot read from an API server.
	Live bool
	// Part tells that the input holds single objects, and tells nothing of others of their kinds.
	Part bool
	// Within is the only namespace the input tells of; empty means all.
	Within string
}

// NewBuilder starts a Builder. wants limits the kinds that are decoded; nil takes every readable kind.
// Build must be called, also after an error, to stop its workers.
func NewBuilder(wants func(schema.GroupKind) bool) *Builder {
	b := &Builder{wants: wants, shared: sharedDecoders(), coverage: newCoverage(), queue: make(chan job, 256)}
	for range max(1, runtime.GOMAXPROCS(0)) {
		b.workers.Add(1)
		go b.work()
	}
	return b
}

// Sink returns a source.Sink that adds to the snapshot. Inputs must be read one after another.
func (b *Builder) Sink(opts InputOptions) source.Sink {
	if opts.Live {
		b.live = true
	}
	return &sink{b: b, opts: opts}
}

// Build waits for the decoding and returns the snapshot. The Builder can't be used afterwards.
func (b *Builder) Build() *Snapshot {
	close(b.queue)
	b.workers.Wait()
	slices.SortFunc(b.done, func(x, y result) int { return cmp.Compare(x.seq, y.seq) })
	s := &Snapshot{Coverage: b.coverage, Live: b.live, kinds: map[schema.GroupKind]*kindIndex{},
		uids: map[types.UID]*Object{}}
	for _, r := range b.done {
		if r.problem != nil {
			b.problems = append(b.problems, placed{*r.problem, r.seq})
			s.Coverage.unread[r.kind] = true
			continue
		}
		if r.object != nil {
			s.add(r.object)
		}
	}
	slices.SortStableFunc(b.problems, func(x, y placed) int { return cmp.Compare(x.seq, y.seq) })
	for _, p := range b.problems {
		s.Problems = append(s.Problems, p.problem)
	}
	b.done, b.shared = nil, nil // what is remembered of equal parts takes memory
	s.finish()
	s.Coverage.addUp(s.List(Namespace))
	return s
}

func (b *Builder) work() {
	defer b.workers.Done()
	var done []result
	for j := range b.queue {
		r := b.decode(j)
		r.kind = j.kind.GroupKind
		done = append(done, r)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, done...)
}

func (b *Builder) decode(j job) result {
	version, given := schema.ParseGroupVersion(j.doc.APIVersion)
	if given != nil {
		return result{seq: j.seq, problem: problemAt(j.doc.Origin, fmt.Sprintf("%s: %v", j.doc.Kind, given))}
	}
	decode, ok := j.kind.decode[version.Version]
	if !ok {
		return result{seq: j.seq, problem: problemAt(j.doc.Origin, fmt.Sprintf(
			"%s: version %s is not supported (supported: %v)", j.doc.Kind, j.doc.APIVersion, j.kind.Versions))}
	}
	if shared := b.shared[kindVersion{j.kind.GroupKind, version.Version}]; shared != nil {
		decode = shared
	}
	d, err := decode(j.doc.JSON)
	if err != nil {
		return result{seq: j.seq,
			problem: problemAt(j.doc.Origin, fmt.Sprintf("%s can't be decoded: %v", j.doc.Kind, err))}
	}
	if j.kind.keep != nil && !j.kind.keep(d) {
		return result{seq: j.seq}
	}
	return finishObject(j, d)
}

func finishObject(j job, d decoded) result {
	if d.meta.Name == "" && j.kind.GroupKind != KueueConfiguration {
		if d.meta.GenerateName == "" {
			return result{seq: j.seq, problem: problemAt(j.doc.Origin, j.doc.Kind+" has no metadata.name; it is left "+
				"out")}
		}
		d.meta.Name = d.meta.GenerateName + "*"
	}
	if !j.kind.Namespaced {
		d.meta.Namespace = ""
	} else if d.meta.Namespace == "" {
		d.meta.Namespace = cmp.Or(j.opts.Namespace, "default")
	}
	setDefaults(d.typed)
	return result{seq: j.seq, object: &Object{
		Ref: Ref{
			APIVersion: schema.GroupVersion{Group: j.kind.Group, Version: j.kind.Versions[0]}.String(),
			Kind:       j.kind.Kind, Namespace: d.meta.Namespace, Name: d.meta.Name,
		},
		Meta: d.meta, Typed: d.typed, Origin: j.doc.Origin, Given: j.doc.APIVersion, Seq: j.seq, Laid: j.opts.Laid,
		EffectiveQuotas: hasEffectiveQuotas(j),
	}}
}

// hasEffectiveQuotas looks for status.effectiveQuotas of a ClusterQueue or Cohort.
func hasEffectiveQuotas(j job) bool {
	if j.kind.GroupKind != ClusterQueue && j.kind.GroupKind != Cohort ||
		!bytes.Contains(j.doc.JSON, []byte("effectiveQuotas")) {
		return false
	}
	var o struct {
		Status struct {
			EffectiveQuotas any `json:"effectiveQuotas"`
		} `json:"status"`
	}
	return json.Unmarshal(j.doc.JSON, &o) == nil && o.Status.EffectiveQuotas != nil
}

func problemAt(o *source.Origin, reason string) *source.Problem {
	p := source.Problem{Reason: reason}
	if o != nil {
		p.File, p.Line, p.Where = o.File, o.Line, o.Cluster
	}
	return &p
}

// add stores an object, deciding between two of the same name: what is laid over the cluster wins, then
// the newer resourceVersion, then the later in the input.
func (s *Snapshot) add(o *Object) {
	gk := o.Ref.GroupKind()
	idx := s.kinds[gk]
	if idx == nil {
		idx = &kindIndex{objects: map[types.NamespacedName]*Object{}}
		s.kinds[gk] = idx
	}
	key := types.NamespacedName{Namespace: o.Ref.Namespace, Name: o.Ref.Name}
	old := idx.objects[key]
	switch {
	case old == nil:
	case o.Laid && !old.Laid:
		// Applying a manifest keeps the identity of the object that is there.
		o.Meta.UID = cmp.Or(o.Meta.UID, old.Meta.UID)
		if o.Meta.CreationTimestamp.IsZero() {
			o.Meta.CreationTimestamp = old.Meta.CreationTimestamp
		}
	case old.Laid && !o.Laid:
		return
	case resourceVersion(old) > resourceVersion(o) && resourceVersion(o) > 0:
		s.twice(old, o)
		return
	default:
		s.twice(o, old)
	}
	idx.objects[key] = o
}

// twice notes that the input holds two versions of an object. What is laid over it later is meant to replace it.
func (s *Snapshot) twice(taken, left *Object) {
	if !taken.Laid && !left.Laid && !apiequality.Semantic.DeepEqual(taken.API(), left.API()) {
		s.Twice = append(s.Twice, Twice{Taken: taken, Left: left})
	}
}

func resourceVersion(o *Object) uint64 {
	n, err := strconv.ParseUint(o.Meta.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// FromBytes builds a snapshot from one input held in memory: the demo cluster and tests use it.
func FromBytes(ctx context.Context, name string, data []byte) (*Snapshot, error) {
	b := NewBuilder(nil)
	err := source.ReadBytes(ctx, name, data, b.Sink(InputOptions{}))
	return b.Build(), err
}
