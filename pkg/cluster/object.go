package cluster

import (
	"cmp"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Ref names one object of the cluster.
type Ref struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// IsZero tells that the Ref names nothing.
func (r Ref) IsZero() bool { return r.Kind == "" && r.Name == "" }

// String is `Kind namespace/name`, or `Kind name` for cluster-scoped objects.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// GroupKind of the object.
func (r Ref) GroupKind() schema.GroupKind {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return schema.GroupKind{Kind: r.Kind}
	}
	return schema.GroupKind{Group: gv.Group, Kind: r.Kind}
}

// Compare orders references by namespace, kind, name, then API version: the order of every list printed.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Kind, o.Kind),
		cmp.Compare(r.Name, o.Name), cmp.Compare(r.APIVersion, o.APIVersion))
}

// Partial tells that Typed holds only the fields the program asks for: the object is of an optional CRD, or its content
// is read by a layer above.
func (o *Object) Partial() bool {
	of := reflect.TypeOf(o.Typed)
	return of == rawType || of != nil && of.Kind() == reflect.Pointer && of.Elem().PkgPath() == crdPackage
}

var (
	rawType    = reflect.TypeFor[*Raw]()
	crdPackage = reflect.TypeFor[crd.JobSet]().PkgPath()
)

// Object is one object of the snapshot.
type Object struct {
	// Ref carries the newest API version of the kind, which Typed is of.
	Ref Ref
	// Meta points into Typed.
	Meta *metav1.ObjectMeta
	// Typed is a pointer to the decoded object, for example *batchv1.Job or *crd.JobSet; of a ResourceSlice that of
	// this package. It is shared and must not be changed.
	Typed any
	// Origin is where the object was read.
	Origin *source.Origin
	// Given is the API version the object was written in.
	Given string
	// Seq is the place of the object in the input.
	Seq int
	// EffectiveQuotas tells that status.effectiveQuotas of a ClusterQueue or Cohort is set, a field of Kueue 0.20 that
	// Typed does not hold.
	EffectiveQuotas bool
	// Laid tells that the object comes from -f: it never passed an API server.
	Laid bool
}

// API is the typed object as the type of its API; where the program reads only a part of it, as Typed.
func (o *Object) API() any {
	if slice, ok := o.Typed.(*DeviceSlice); ok {
		return slice.API()
	}
	return o.Typed
}

// As returns the typed object, or the zero value when it is of another type (or o is nil).
func As[T any](o *Object) T {
	var zero T
	if o == nil {
		return zero
	}
	t, ok := o.Typed.(T)
	if !ok {
		return zero
	}
	return t
}
