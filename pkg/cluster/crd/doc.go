// Package crd has small structs for the kinds of optional CRDs, with only the fields that decide
// which pods a job asks for, their number, its priority and its progress.
//
// In: the objects' JSON, decoded by package cluster. Out: typed objects for package workload, and
// [Default], which fills what a CRD's schema fills for objects that never passed an API server.
//
// Kinds: JobSet (jobset.x-k8s.io/v1alpha2); LeaderWorkerSet (leaderworkerset.x-k8s.io/v1); MPIJob
// (kubeflow.org/v2beta1); PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob (kubeflow.org/v1);
// TrainJob, TrainingRuntime, ClusterTrainingRuntime (trainer.kubeflow.org/v1alpha1); RayCluster,
// RayJob, RayService (ray.io/v1); AppWrapper (workload.codeflare.dev/v1beta2); SparkApplication
// (sparkoperator.k8s.io/v1beta2).
package crd
