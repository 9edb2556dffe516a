package crd

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SparkApplication is sparkoperator.k8s.io/v1beta2 SparkApplication.
type SparkApplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SparkApplicationSpec   `json:"spec,omitempty"`
	Status            SparkApplicationStatus `json:"status,omitempty"`
}

// SparkApplicationSpec is one driver and a number of executors.
type SparkApplicationSpec struct {
	// Type is Java, Scala, Python or R: what does not run in a JVM alone gets more memory overhead by default.
	Type string `json:"type,omitempty"`
	// SparkConf holds properties of Spark; the fields of the spec win over them.
	SparkConf            map[string]string `json:"sparkConf,omitempty"`
	MemoryOverheadFactor *string           `json:"memoryOverheadFactor,omitempty"`

	Suspend      *bool             `json:"suspend,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Volumes      []corev1.Volume   `json:"volumes,omitempty"`
	Driver       SparkDriver       `json:"driver"`
	Executor     SparkExecutor     `json:"executor"`
}

// SparkProperties are the properties of Spark that a charge depends on.
func SparkProperties() []string {
	out := []string{"spark.kubernetes.memoryOverheadFactor"}
	for _, role := range []string{"driver", "executor"} {
		out = append(out, "spark."+role+".cores", "spark."+role+".memory", "spark."+role+".memoryOverhead",
			"spark."+role+".memoryOverheadFactor", "spark.kubernetes."+role+".request.cores")
	}
	return out
}

// SparkPod is what driver and executor pods have in common.
type SparkPod struct {
	// Template gives only its metadata to the pods Kueue charges.
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// CoreRequest is the cpu request; without it Spark takes Cores, 1 by default.
	CoreRequest *string `json:"coreRequest,omitempty"`
	Cores       *int32  `json:"cores,omitempty"`
	CoreLimit   *string `json:"coreLimit,omitempty"`
	// Memory, MemoryOverhead and MemoryLimit are in Java units (512m is 512Mi).
	Memory            *string             `json:"memory,omitempty"`
	MemoryOverhead    *string             `json:"memoryOverhead,omitempty"`
	MemoryLimit       *string             `json:"memoryLimit,omitempty"`
	GPU               *SparkGPU           `json:"gpu,omitempty"`
	Labels            map[string]string   `json:"labels,omitempty"`
	Annotations       map[string]string   `json:"annotations,omitempty"`
	Affinity          *corev1.Affinity    `json:"affinity,omitempty"`
	Tolerations       []corev1.Toleration `json:"tolerations,omitempty"`
	NodeSelector      map[string]string   `json:"nodeSelector,omitempty"`
	Sidecars          []corev1.Container  `json:"sidecars,omitempty"`
	InitContainers    []corev1.Container  `json:"initContainers,omitempty"`
	PriorityClassName *string             `json:"priorityClassName,omitempty"`
}

// SparkDriver is the driver pod.
type SparkDriver struct {
	SparkPod `json:",inline"`
}

// SparkExecutor is the executor pods.
type SparkExecutor struct {
	SparkPod `json:",inline"`
	// Instances is the number of executors; Kueue counts 0 when it is unset.
	Instances *int32 `json:"instances,omitempty"`
}

// SparkGPU is set as a limit of the Spark container.
type SparkGPU struct {
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"`
}

// SparkApplicationStatus holds the outcome.
type SparkApplicationStatus struct {
	AppState SparkAppState `json:"applicationState,omitempty"`
}

// SparkAppState is the state of the application ("RUNNING", "COMPLETED", "FAILED", …).
type SparkAppState struct {
	State        string `json:"state"`
	ErrorMessage string `json:"errorMessage,omitempty"`
}
