package crd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultsOfTheSchemas(t *testing.T) {
	for _, tc := range []struct {
		name, object string
		into         any
		want         func(any) any
		value        any
	}{
		{"a replicated job is one Job", `{"spec": {"replicatedJobs": [{"name": "a"}]}}`, &JobSet{},
			func(o any) any { return *o.(*JobSet).Spec.ReplicatedJobs[0].Replicas }, int32(1)},
		{"none stays none", `{"spec": {"replicatedJobs": [{"name": "a", "replicas": 0}]}}`, &JobSet{},
			func(o any) any { return *o.(*JobSet).Spec.ReplicatedJobs[0].Replicas }, int32(0)},
		{"a LeaderWorkerSet is one group", `{"spec": {}}`, &LeaderWorkerSet{},
			func(o any) any { return *o.(*LeaderWorkerSet).Spec.Replicas }, int32(1)},
		{"of one pod", `{"spec": {}}`, &LeaderWorkerSet{},
			func(o any) any { return *o.(*LeaderWorkerSet).Spec.LeaderWorkerTemplate.Size }, int32(1)},
		{"a Ray worker group has no replicas", `{"spec": {"workerGroupSpecs": [{"groupName": "a"}]}}`, &RayCluster{},
			func(o any) any { return *o.(*RayCluster).Spec.WorkerGroupSpecs[0].Replicas }, int32(0)},
		{"on one host", `{"spec": {"rayClusterConfig": {"workerGroupSpecs": [{"groupName": "a"}]}}}`, &RayService{},
			func(o any) any { return o.(*RayService).Spec.RayClusterSpec.WorkerGroupSpecs[0].NumOfHosts }, int32(1)},
		{"a RayJob is submitted by a Job", `{"spec": {"rayClusterSpec": {}}}`, &RayJob{},
			func(o any) any { return o.(*RayJob).Spec.SubmissionMode }, "K8sJobMode"},
		{"a TrainJob names a ClusterTrainingRuntime", `{"spec": {"runtimeRef": {"name": "x"}}}`, &TrainJob{},
			func(o any) any { return *o.(*TrainJob).Spec.RuntimeRef.Kind }, "ClusterTrainingRuntime"},
		{"Kubeflow's replicas are left to Kueue", `{"spec": {"pytorchReplicaSpecs": {"Worker": {}}}}`, &PyTorchJob{},
			func(o any) any { return o.(*PyTorchJob).Spec.PyTorchReplicaSpecs["Worker"].Replicas == nil }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tc.object), tc.into); err != nil {
				t.Fatal(err)
			}
			Default(tc.into)
			if diff := cmp.Diff(tc.value, tc.want(tc.into)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
