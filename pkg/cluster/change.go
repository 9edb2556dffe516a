package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Change is one edit to a snapshot, to see what would follow from it.
type Change struct {
	// Ref names the object. For one that is made new it tells its kind and name.
	Ref Ref
	// Patch is a JSON patch (RFC 6902) against the object in the API version of Ref.
	Patch []byte
	// Remove takes the object away.
	Remove bool
	// Create is the object to add, as a pointer to its type; it takes the place of one of that name.
	Create any
}

// Apply returns a snapshot with the changes, in order. The snapshot itself stays as it is; unchanged objects are
// shared. Changed and new objects count as laid over the cluster: their status is not that of the changed object. The
// error says that a patch does not fit.
func (s *Snapshot) Apply(changes ...Change) (*Snapshot, error) {
	out := &Snapshot{Coverage: s.Coverage, Problems: s.Problems, Live: s.Live, Supposed: true,
		Removed: slices.Clone(s.Removed), kinds: maps.Clone(s.kinds), uids: map[types.UID]*Object{}}
	fresh := map[schema.GroupKind]bool{}
	for _, c := range changes {
		gk := c.Ref.GroupKind()
		if !fresh[gk] {
			fresh[gk] = true
			idx := &kindIndex{objects: map[types.NamespacedName]*Object{}}
			if old := s.kinds[gk]; old != nil {
				idx.objects = maps.Clone(old.objects)
			}
			out.kinds[gk] = idx
		}
		if err := out.apply(c); err != nil {
			return nil, err
		}
	}
	out.finish()
	return out, nil
}

func (s *Snapshot) apply(c Change) error {
	objects := s.kinds[c.Ref.GroupKind()].objects
	key := types.NamespacedName{Namespace: c.Ref.Namespace, Name: c.Ref.Name}
	old := objects[key]
	switch {
	case c.Create != nil:
		o, err := objectOf(c.Create)
		if err != nil {
			return err
		}
		o.Ref, o.Given = c.Ref, c.Ref.APIVersion
		objects[key] = o
		return nil
	case old == nil:
		return fmt.Errorf("%s is not in the input", c.Ref)
	case c.Remove:
		delete(objects, key)
		s.Removed = append(s.Removed, old)
		return nil
	}
	changed, err := patched(old, c.Patch)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Ref, err)
	}
	objects[key] = changed
	return nil
}

// patched is a changed copy of an object.
func patched(old *Object, patch []byte) (*Object, error) {
	before := old.API()
	text, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	if text, err = p.Apply(text); err != nil {
		return nil, err
	}
	typed := reflect.New(reflect.TypeOf(before).Elem()).Interface()
	if err := json.Unmarshal(text, typed); err != nil {
		return nil, err
	}
	o, err := objectOf(typed)
	if err != nil {
		return nil, err
	}
	o.Ref, o.Given, o.Origin, o.Seq = old.Ref, old.Given, old.Origin, old.Seq
	o.EffectiveQuotas = old.EffectiveQuotas
	return o, nil
}

// objectOf wraps an object of the type of its API.
func objectOf(typed any) (*Object, error) {
	v := reflect.ValueOf(typed)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is no pointer to an object", typed)
	}
	field := v.Elem().FieldByName("ObjectMeta")
	if !field.IsValid() {
		return nil, fmt.Errorf("%T has no metadata", typed)
	}
	meta, ok := field.Addr().Interface().(*metav1.ObjectMeta)
	if !ok {
		return nil, fmt.Errorf("%T has no metadata", typed)
	}
	out := compacted(decoded{typed, meta}, newSliceDecoder())
	return &Object{Typed: out.typed, Meta: out.meta, Laid: true}, nil
}
