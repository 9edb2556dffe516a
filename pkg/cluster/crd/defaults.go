package crd

// Default fills the fields that the CRD's own schema fills when an object passes an API server.
// Objects of other types are left alone, so it may be called with any decoded object.
// What an operator's webhook adds is not filled: Kueue works without the operators too.
func Default(obj any) {
	switch o := obj.(type) {
	case *JobSet:
		defaultJobSetSpec(&o.Spec)
	case *LeaderWorkerSet:
		orDefault(&o.Spec.Replicas, 1)
		orDefault(&o.Spec.LeaderWorkerTemplate.Size, 1)
	case *TrainJob:
		orDefault(&o.Spec.RuntimeRef.APIGroup, "trainer.kubeflow.org")
		orDefault(&o.Spec.RuntimeRef.Kind, "ClusterTrainingRuntime")
	case *TrainingRuntime:
		defaultJobSetSpec(&o.Spec.Template.Spec)
	case *ClusterTrainingRuntime:
		defaultJobSetSpec(&o.Spec.Template.Spec)
	case *RayCluster:
		defaultRayClusterSpec(&o.Spec)
	case *RayService:
		defaultRayClusterSpec(&o.Spec.RayClusterSpec)
	case *RayJob:
		if o.Spec.RayClusterSpec != nil {
			defaultRayClusterSpec(o.Spec.RayClusterSpec)
		}
		if o.Spec.SubmissionMode == "" {
			o.Spec.SubmissionMode = "K8sJobMode"
		}
	}
}

func defaultJobSetSpec(spec *JobSetSpec) {
	for i := range spec.ReplicatedJobs {
		orDefault(&spec.ReplicatedJobs[i].Replicas, 1)
	}
}

func defaultRayClusterSpec(spec *RayClusterSpec) {
	for i := range spec.WorkerGroupSpecs {
		g := &spec.WorkerGroupSpecs[i]
		orDefault(&g.Replicas, 0)
		if g.NumOfHosts == 0 {
			g.NumOfHosts = 1
		}
	}
}

func orDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
