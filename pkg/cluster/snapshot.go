package cluster

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Snapshot is everything that was read of one cluster. It does not change once built.
type Snapshot struct {
	Coverage Coverage
	// Problems are the parts of the input that could not be used, in input order.
	Problems []source.Problem
	// Twice are the objects of which the input holds different versions, in input order.
	Twice []Twice
	// Live tells that the snapshot was read from a cluster's API server.
	Live bool

	// Removed are objects that were taken away on purpose ([Snapshot.Apply]); what others report of them is out of
	// date.
	Removed []*Object
	// Supposed tells that the snapshot is of a cluster as it might be ([Snapshot.Apply]): what objects report of one
	// another may be of the cluster as it is.
	Supposed bool

	kinds map[schema.GroupKind]*kindIndex
	uids  map[types.UID]*Object
}

// Twice is an object that the input holds in two versions.
type Twice struct {
	// Taken is the one with the newer resourceVersion; where these don't tell, the one that stands later.
	Taken, Left *Object
}

type kindIndex struct {
	objects map[types.NamespacedName]*Object
	sorted  []*Object
}

// Get returns the object, or nil. Namespace is empty for cluster-scoped kinds.
func (s *Snapshot) Get(gk schema.GroupKind, namespace, name string) *Object {
	idx := s.kinds[gk]
	if idx == nil {
		return nil
	}
	return idx.objects[types.NamespacedName{Namespace: namespace, Name: name}]
}

// List returns the objects of a kind, sorted by namespace and name. The slice is shared.
func (s *Snapshot) List(gk schema.GroupKind) []*Object {
	idx := s.kinds[gk]
	if idx == nil {
		return nil
	}
	return idx.sorted
}

// ByUID returns the object with this UID, or nil.
func (s *Snapshot) ByUID(uid types.UID) *Object {
	if uid == "" {
		return nil
	}
	return s.uids[uid]
}

// All yields the objects of a kind that decode to T, sorted by namespace and name.
func All[T any](s *Snapshot, gk schema.GroupKind) iter.Seq2[*Object, T] {
	return func(yield func(*Object, T) bool) {
		for _, o := range s.List(gk) {
			if t, ok := o.Typed.(T); ok && !yield(o, t) {
				return
			}
		}
	}
}

// Lookup returns the typed object and its record; ok is false when the snapshot has none.
func Lookup[T any](s *Snapshot, gk schema.GroupKind, namespace, name string) (t T, o *Object, ok bool) {
	o = s.Get(gk, namespace, name)
	if o == nil {
		return t, nil, false
	}
	t, ok = o.Typed.(T)
	return t, o, ok
}

// Objects counts the objects held.
func (s *Snapshot) Objects() int {
	n := 0
	for _, idx := range s.kinds {
		n += len(idx.objects)
	}
	return n
}

func (s *Snapshot) finish() {
	for _, idx := range s.kinds {
		idx.sorted = make([]*Object, 0, len(idx.objects))
		for _, o := range idx.objects {
			idx.sorted = append(idx.sorted, o)
			if o.Meta != nil && o.Meta.UID != "" {
				s.uids[o.Meta.UID] = o
			}
		}
		slices.SortFunc(idx.sorted, func(a, b *Object) int { return a.Ref.Compare(b.Ref) })
	}
}
