package crd

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicaSpec is the pods of one role of a Kubeflow job.
type ReplicaSpec struct {
	// Replicas is the number of pods; Kueue counts 1 when it is unset.
	Replicas *int32                 `json:"replicas,omitempty"`
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
}

// ReplicaSpecs maps a role ("Master", "Worker", "PS", …) to its pods. A role may be present and null.
type ReplicaSpecs map[string]*ReplicaSpec

// RunPolicy is shared by all Kubeflow jobs.
type RunPolicy struct {
	Suspend          *bool             `json:"suspend,omitempty"`
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`
	ManagedBy        *string           `json:"managedBy,omitempty"`
}

// SchedulingPolicy names the priority class of the whole job.
type SchedulingPolicy struct {
	PriorityClass string `json:"priorityClass,omitempty"`
}

// KubeflowStatus is the status of all Kubeflow jobs.
type KubeflowStatus struct {
	Conditions []KubeflowCondition `json:"conditions,omitempty"`
}

// KubeflowCondition is a condition of a Kubeflow job, with the fields that tell whether it has ended.
type KubeflowCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Message string                 `json:"message,omitempty"`
}

// MPIJob is kubeflow.org/v2beta1 MPIJob.
type MPIJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MPIJobSpec     `json:"spec,omitempty"`
	Status            KubeflowStatus `json:"status,omitempty"`
}

// MPIJobSpec has the roles Launcher and Worker.
type MPIJobSpec struct {
	RunPolicy       RunPolicy    `json:"runPolicy,omitempty"`
	MPIReplicaSpecs ReplicaSpecs `json:"mpiReplicaSpecs,omitempty"`
}

// PyTorchJob is kubeflow.org/v1 PyTorchJob.
type PyTorchJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PyTorchJobSpec `json:"spec,omitempty"`
	Status            KubeflowStatus `json:"status,omitempty"`
}

// PyTorchJobSpec has the roles Master and Worker. Its elasticPolicy does not change what is charged.
type PyTorchJobSpec struct {
	RunPolicy           RunPolicy    `json:"runPolicy,omitempty"`
	PyTorchReplicaSpecs ReplicaSpecs `json:"pytorchReplicaSpecs,omitempty"`
}

// TFJob is kubeflow.org/v1 TFJob.
type TFJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TFJobSpec      `json:"spec,omitempty"`
	Status            KubeflowStatus `json:"status,omitempty"`
}

// TFJobSpec has the roles Chief, Master, PS, Worker and Evaluator.
type TFJobSpec struct {
	RunPolicy      RunPolicy    `json:"runPolicy,omitempty"`
	TFReplicaSpecs ReplicaSpecs `json:"tfReplicaSpecs,omitempty"`
}

// XGBoostJob is kubeflow.org/v1 XGBoostJob.
type XGBoostJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              XGBoostJobSpec `json:"spec,omitempty"`
	Status            KubeflowStatus `json:"status,omitempty"`
}

// XGBoostJobSpec has the roles Master and Worker.
type XGBoostJobSpec struct {
	RunPolicy       RunPolicy    `json:"runPolicy,omitempty"`
	XGBReplicaSpecs ReplicaSpecs `json:"xgbReplicaSpecs,omitempty"`
}

// PaddleJob is kubeflow.org/v1 PaddleJob.
type PaddleJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PaddleJobSpec  `json:"spec,omitempty"`
	Status            KubeflowStatus `json:"status,omitempty"`
}

// PaddleJobSpec has the roles Master and Worker.
type PaddleJobSpec struct {
	RunPolicy          RunPolicy    `json:"runPolicy,omitempty"`
	PaddleReplicaSpecs ReplicaSpecs `json:"paddleReplicaSpecs,omitempty"`
}

// JAXJob is kubeflow.org/v1 JAXJob.
type JAXJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              JAXJobSpec     `json:"spec,omitempty"`
	Status            KubeflowStatus `json:"status,omitempty"`
}

// JAXJobSpec has the role Worker.
type JAXJobSpec struct {
	RunPolicy       RunPolicy    `json:"runPolicy,omitempty"`
	JAXReplicaSpecs ReplicaSpecs `json:"jaxReplicaSpecs,omitempty"`
}
