package crd

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TrainJob is trainer.kubeflow.org/v1alpha1 TrainJob.
type TrainJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TrainJobSpec   `json:"spec,omitempty"`
	Status            TrainJobStatus `json:"status,omitempty"`
}

// TrainJobSpec is what a TrainJob changes in the runtime it names.
type TrainJobSpec struct {
	RuntimeRef     RuntimeRef     `json:"runtimeRef,omitempty"`
	Trainer        *Trainer       `json:"trainer,omitempty"`
	RuntimePatches []RuntimePatch `json:"runtimePatches,omitempty"`
	Suspend        *bool          `json:"suspend,omitempty"`
	ManagedBy      *string        `json:"managedBy,omitempty"`
}

// RuntimeRef names a TrainingRuntime or ClusterTrainingRuntime; the CRD defaults it to the latter.
type RuntimeRef struct {
	Name     string  `json:"name,omitempty"`
	APIGroup *string `json:"apiGroup,omitempty"`
	Kind     *string `json:"kind,omitempty"`
}

// Trainer overrides the runtime's replicated job that trains.
type Trainer struct {
	Image            *string                      `json:"image,omitempty"`
	NumNodes         *int32                       `json:"numNodes,omitempty"`
	ResourcesPerNode *corev1.ResourceRequirements `json:"resourcesPerNode,omitempty"`
}

// RuntimePatch is a strategic merge patch of the runtime by one manager.
type RuntimePatch struct {
	Manager             string                    `json:"manager,omitempty"`
	TrainingRuntimeSpec *TrainingRuntimeSpecPatch `json:"trainingRuntimeSpec,omitempty"`
}

// TrainingRuntimeSpecPatch is the part of a runtime that can be patched.
type TrainingRuntimeSpecPatch struct {
	Template *JobSetTemplatePatch `json:"template,omitempty"`
}

// JobSetTemplatePatch patches the JobSet of a runtime.
type JobSetTemplatePatch struct {
	Spec *JobSetSpecPatch `json:"spec,omitempty"`
}

// JobSetSpecPatch patches replicated jobs by name.
type JobSetSpecPatch struct {
	ReplicatedJobs []ReplicatedJobPatch `json:"replicatedJobs,omitempty"`
}

// ReplicatedJobPatch patches the Job template of one replicated job.
type ReplicatedJobPatch struct {
	Name string `json:"name,omitempty"`
	// Template is a strategic merge patch of a batch/v1 JobTemplateSpec, as written.
	Template json.RawMessage `json:"template,omitempty"`
}

// TrainJobStatus holds the progress of a TrainJob.
type TrainJobStatus struct {
	Conditions []metav1.Condition  `json:"conditions,omitempty"`
	JobsStatus []TrainJobJobStatus `json:"jobsStatus,omitempty"`
}

// TrainJobJobStatus counts the Jobs (not the pods) of one replicated job.
type TrainJobJobStatus struct {
	Name      string `json:"name,omitempty"`
	Succeeded *int32 `json:"succeeded,omitempty"`
}

// TrainingRuntime is trainer.kubeflow.org/v1alpha1 TrainingRuntime.
type TrainingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TrainingRuntimeSpec `json:"spec,omitempty"`
}

// ClusterTrainingRuntime is trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime.
type ClusterTrainingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TrainingRuntimeSpec `json:"spec,omitempty"`
}

// TrainingRuntimeSpec is a template of a JobSet and how a TrainJob fills it.
type TrainingRuntimeSpec struct {
	MLPolicy *MLPolicy          `json:"mlPolicy,omitempty"`
	Template JobSetTemplateSpec `json:"template,omitempty"`
}

// JobSetTemplateSpec is the JobSet a TrainJob turns into.
type JobSetTemplateSpec struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              JobSetSpec `json:"spec,omitempty"`
}

// MLPolicy names the number of nodes and the machine learning framework. At most one framework is set.
type MLPolicy struct {
	NumNodes *int32           `json:"numNodes,omitempty"`
	Torch    *FrameworkPolicy `json:"torch,omitempty"`
	MPI      *MPIMLPolicy     `json:"mpi,omitempty"`
	Flux     *FluxMLPolicy    `json:"flux,omitempty"`
	JAX      *FrameworkPolicy `json:"jax,omitempty"`
	XGBoost  *FrameworkPolicy `json:"xgboost,omitempty"`
}

// FrameworkPolicy is a framework whose policy has no field that matters here.
type FrameworkPolicy struct{}

// MPIMLPolicy may run the launcher as one of the nodes.
type MPIMLPolicy struct {
	RunLauncherAsNode *bool `json:"runLauncherAsNode,omitempty"`
}

// FluxMLPolicy is the policy of the Flux framework.
type FluxMLPolicy struct {
	NumProcPerNode *int32 `json:"numProcPerNode,omitempty"`
}
