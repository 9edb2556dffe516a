package cluster

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Raw is an object whose content is read by a layer above: the Kueue configuration in its several
// versions, and the OpenShift resources it may come from.
type Raw struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// JSON is the whole object.
	JSON []byte `json:"-"`
}

func decodeRaw(data []byte) (decoded, error) {
	var r Raw
	if err := unmarshal(data, &r); err != nil {
		return decoded{}, err
	}
	r.JSON = bytes.Clone(data)
	return decoded{&r, &r.ObjectMeta}, nil
}
