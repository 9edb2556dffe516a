package crd

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// LeaderWorkerSet is leaderworkerset.x-k8s.io/v1 LeaderWorkerSet.
type LeaderWorkerSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              LeaderWorkerSetSpec   `json:"spec,omitempty"`
	Status            LeaderWorkerSetStatus `json:"status,omitempty"`
}

// LeaderWorkerSetSpec describes groups of one leader and size-1 workers.
type LeaderWorkerSetSpec struct {
	// Replicas is the number of groups; the CRD defaults it to 1.
	Replicas             *int32               `json:"replicas,omitempty"`
	LeaderWorkerTemplate LeaderWorkerTemplate `json:"leaderWorkerTemplate"`
	RolloutStrategy      RolloutStrategy      `json:"rolloutStrategy,omitempty"`
}

// LeaderWorkerTemplate is one group.
type LeaderWorkerTemplate struct {
	LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate,omitempty"`
	WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
	// Size is the number of pods of a group, leader included; the CRD defaults it to 1.
	Size *int32 `json:"size,omitempty"`
}

// RolloutStrategy matters for the surge: during an update there may be more groups than replicas.
type RolloutStrategy struct {
	Type                       string                      `json:"type,omitempty"`
	RollingUpdateConfiguration *RollingUpdateConfiguration `json:"rollingUpdateConfiguration,omitempty"`
}

// RollingUpdateConfiguration bounds a rolling update.
type RollingUpdateConfiguration struct {
	MaxSurge intstr.IntOrString `json:"maxSurge,omitempty"`
}

// LeaderWorkerSetStatus counts groups.
type LeaderWorkerSetStatus struct {
	Replicas        int32 `json:"replicas,omitempty"`
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`
	ReadyReplicas   int32 `json:"readyReplicas,omitempty"`
}
