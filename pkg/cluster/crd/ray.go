package crd

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RayCluster is ray.io/v1 RayCluster.
type RayCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RayClusterSpec   `json:"spec,omitempty"`
	Status            RayClusterStatus `json:"status,omitempty"`
}

// RayClusterSpec is one head and any number of worker groups.
type RayClusterSpec struct {
	Suspend                 *bool              `json:"suspend,omitempty"`
	ManagedBy               *string            `json:"managedBy,omitempty"`
	EnableInTreeAutoscaling *bool              `json:"enableInTreeAutoscaling,omitempty"`
	AutoscalerOptions       *AutoscalerOptions `json:"autoscalerOptions,omitempty"`
	// GcsFaultToleranceOptions matters by its presence only.
	GcsFaultToleranceOptions json.RawMessage   `json:"gcsFaultToleranceOptions,omitempty"`
	HeadGroupSpec            HeadGroupSpec     `json:"headGroupSpec"`
	WorkerGroupSpecs         []WorkerGroupSpec `json:"workerGroupSpecs,omitempty"`
}

// AutoscalerOptions shapes the autoscaler container of the head pod.
type AutoscalerOptions struct {
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// HeadGroupSpec is the head pod.
type HeadGroupSpec struct {
	Template corev1.PodTemplateSpec `json:"template"`
}

// WorkerGroupSpec is a group of equal worker pods.
type WorkerGroupSpec struct {
	GroupName string `json:"groupName"`
	// Replicas is the desired number of replicas; the CRD defaults it to 0.
	Replicas    *int32 `json:"replicas,omitempty"`
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// NumOfHosts is the number of pods of one replica; the CRD defaults it to 1.
	NumOfHosts int32                  `json:"numOfHosts,omitempty"`
	Suspend    *bool                  `json:"suspend,omitempty"`
	Template   corev1.PodTemplateSpec `json:"template"`
}

// RayClusterStatus holds the state of the cluster.
type RayClusterStatus struct {
	State string `json:"state,omitempty"`
}

// RayJob is ray.io/v1 RayJob.
type RayJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RayJobSpec   `json:"spec,omitempty"`
	Status            RayJobStatus `json:"status,omitempty"`
}

// RayJobSpec is a Ray cluster and a submitter.
type RayJobSpec struct {
	Suspend        bool            `json:"suspend,omitempty"`
	ManagedBy      *string         `json:"managedBy,omitempty"`
	RayClusterSpec *RayClusterSpec `json:"rayClusterSpec,omitempty"`
	// ShutdownAfterJobFinishes must be true for Kueue's webhook to let a labelled RayJob pass.
	ShutdownAfterJobFinishes bool `json:"shutdownAfterJobFinishes,omitempty"`
	// ClusterSelector runs the job in an existing cluster; Kueue then leaves the job alone.
	ClusterSelector map[string]string `json:"clusterSelector,omitempty"`
	// SubmissionMode is K8sJobMode (the CRD's default), HTTPMode, InteractiveMode or SidecarMode.
	SubmissionMode       string                  `json:"submissionMode,omitempty"`
	SubmitterPodTemplate *corev1.PodTemplateSpec `json:"submitterPodTemplate,omitempty"`
}

// RayJobStatus names the cluster of the job and its outcome.
type RayJobStatus struct {
	JobStatus           string `json:"jobStatus,omitempty"`
	JobDeploymentStatus string `json:"jobDeploymentStatus,omitempty"`
	RayClusterName      string `json:"rayClusterName,omitempty"`
	Message             string `json:"message,omitempty"`
}

// RayService is ray.io/v1 RayService.
type RayService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RayServiceSpec   `json:"spec,omitempty"`
	Status            RayServiceStatus `json:"status,omitempty"`
}

// RayServiceSpec is a Ray cluster that serves.
type RayServiceSpec struct {
	RayClusterSpec RayClusterSpec `json:"rayClusterConfig,omitempty"`
	ManagedBy      *string        `json:"managedBy,omitempty"`
}

// RayServiceStatus names the cluster in use.
type RayServiceStatus struct {
	ActiveServiceStatus RayServiceClusterStatus `json:"activeServiceStatus,omitempty"`
}

// RayServiceClusterStatus names one cluster of a RayService.
type RayServiceClusterStatus struct {
	RayClusterName string `json:"rayClusterName,omitempty"`
}
