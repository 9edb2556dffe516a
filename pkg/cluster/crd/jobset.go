package crd

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobSet is jobset.x-k8s.io/v1alpha2 JobSet.
type JobSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              JobSetSpec   `json:"spec,omitempty"`
	Status            JobSetStatus `json:"status,omitempty"`
}

// JobSetSpec is also the body of a TrainingRuntime's template.
type JobSetSpec struct {
	ReplicatedJobs []ReplicatedJob `json:"replicatedJobs,omitempty"`
	Suspend        *bool           `json:"suspend,omitempty"`
}

// ReplicatedJob is a group of equal Jobs.
type ReplicatedJob struct {
	Name     string                  `json:"name"`
	Template batchv1.JobTemplateSpec `json:"template"`
	// Replicas is the number of Jobs; the CRD defaults it to 1.
	Replicas *int32 `json:"replicas,omitempty"`
}

// JobSetStatus holds the progress of the JobSet.
type JobSetStatus struct {
	Conditions           []metav1.Condition    `json:"conditions,omitempty"`
	ReplicatedJobsStatus []ReplicatedJobStatus `json:"replicatedJobsStatus,omitempty"`
}

// ReplicatedJobStatus counts the Jobs (not the pods) of one replicated job.
type ReplicatedJobStatus struct {
	Name      string `json:"name"`
	Succeeded int32  `json:"succeeded,omitempty"`
}
