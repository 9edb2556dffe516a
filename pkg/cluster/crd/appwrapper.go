package crd

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppWrapper is workload.codeflare.dev/v1beta2 AppWrapper.
type AppWrapper struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppWrapperSpec   `json:"spec,omitempty"`
	Status            AppWrapperStatus `json:"status,omitempty"`
}

// AppWrapperSpec wraps objects of any kind.
type AppWrapperSpec struct {
	Components []AppWrapperComponent `json:"components,omitempty"`
	Suspend    bool                  `json:"suspend,omitempty"`
	ManagedBy  *string               `json:"managedBy,omitempty"`
}

// AppWrapperComponent is one wrapped object.
type AppWrapperComponent struct {
	// PodSets are declared; when there are none they are inferred for well-known kinds.
	PodSets []AppWrapperPodSet `json:"podSets,omitempty"`
	// Template is the wrapped object, as written.
	Template json.RawMessage `json:"template,omitempty"`
}

// AppWrapperPodSet says where in the wrapped object a pod template stands.
type AppWrapperPodSet struct {
	// Replicas is the number of pods; unset means 1.
	Replicas *int32 `json:"replicas,omitempty"`
	// Path starts with "template", which is the wrapped object itself.
	Path string `json:"path"`
}

// AppWrapperStatus keeps the pod sets found when the wrapper was first seen; they win over the spec.
type AppWrapperStatus struct {
	Phase           string                      `json:"phase,omitempty"`
	Conditions      []metav1.Condition          `json:"conditions,omitempty"`
	ComponentStatus []AppWrapperComponentStatus `json:"componentStatus,omitempty"`
}

// AppWrapperComponentStatus is the status of one wrapped object.
type AppWrapperComponentStatus struct {
	PodSets []AppWrapperPodSet `json:"podSets,omitempty"`
}
