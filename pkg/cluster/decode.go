package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	kubejson "sigs.k8s.io/json"
)

// decoded is a typed object with its metadata.
type decoded struct {
	typed any
	meta  *metav1.ObjectMeta
}

type decodeFunc func(data []byte) (decoded, error)

// unmarshal decodes as the API server does: field names are case-sensitive.
func unmarshal(data []byte, into any) error {
	return kubejson.UnmarshalCaseSensitivePreserveInts(data, into)
}

// object is a pointer to a Kubernetes type.
type object[T any] interface {
	*T
	metav1.ObjectMetaAccessor
}

// metaOf returns the ObjectMeta inside a Kubernetes type.
func metaOf(o metav1.ObjectMetaAccessor) *metav1.ObjectMeta {
	m, _ := o.GetObjectMeta().(*metav1.ObjectMeta)
	return m
}

// into decodes to T as it is.
func into[T any, P object[T]](data []byte) (decoded, error) {
	var p P = new(T)
	if err := unmarshal(data, p); err != nil {
		return decoded{}, err
	}
	return decoded{p, metaOf(p)}, nil
}

// kueueHub decodes an old Kueue version O and converts it to the hub version N by Kueue's own conversion.
func kueueHub[O, N any, PO interface {
	object[O]
	conversion.Convertible
}, PN interface {
	object[N]
	conversion.Hub
}](data []byte) (decoded, error) {
	var from PO = new(O)
	if err := unmarshal(data, from); err != nil {
		return decoded{}, err
	}
	var to PN = new(N)
	if err := from.ConvertTo(to); err != nil {
		return decoded{}, err
	}
	return decoded{to, metaOf(to)}, nil
}

// resourceV1 decodes an old resource.k8s.io version O and converts it to v1 type N by the conversion
// that the Dynamic Resource Allocation library ships for drivers.
func resourceV1[O, N any, PO object[O], PN object[N]](data []byte) (decoded, error) {
	var from PO = new(O)
	if err := unmarshal(data, from); err != nil {
		return decoded{}, err
	}
	var to PN = new(N)
	scheme, err := resourceScheme()
	if err != nil {
		return decoded{}, err
	}
	if err := scheme.Convert(from, to, nil); err != nil {
		return decoded{}, err
	}
	return decoded{to, metaOf(to)}, nil
}
