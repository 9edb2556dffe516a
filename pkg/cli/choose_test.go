package cli

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// owned are a job with a pod, a deployment with its replica set and pod, and two pods that own each other.
const owned = `
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: a, uid: u1}
---
apiVersion: v1
kind: Pod
metadata:
  name: train-x
  namespace: a
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: u1, controller: true}]
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: serve-1
  namespace: a
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: serve, uid: u2, controller: true}]
---
apiVersion: v1
kind: Pod
metadata:
  name: serve-1-y
  namespace: a
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: serve-1, uid: u3, controller: true}]
---
apiVersion: v1
kind: Pod
metadata:
  name: egg
  namespace: a
  ownerReferences: [{apiVersion: v1, kind: Pod, name: hen, uid: u4, controller: true}]
---
apiVersion: v1
kind: Pod
metadata:
  name: hen
  namespace: a
  ownerReferences: [{apiVersion: v1, kind: Pod, name: egg, uid: u5, controller: true}]
`

func TestWorkloadsAreFoundThroughTheirOwners(t *testing.T) {
	snap, err := cluster.FromBytes(context.Background(), "owned.yaml", []byte(owned))
	if err != nil || len(snap.Problems) > 0 {
		t.Fatal(err, snap.Problems)
	}
	of := func(kind, name string, state workload.State) *workload.Workload {
		for _, k := range cluster.Kinds() {
			if o := snap.Get(k.GroupKind, "a", name); k.Kind == kind && o != nil {
				return &workload.Workload{Owner: o, OwnerRef: o.Ref, Namespace: "a", Name: "w-" + name, Index: -1, State: state}
			}
		}
		t.Fatalf("no %s %s", kind, name)
		return nil
	}
	group := &workload.Workload{OwnerRef: cluster.Ref{APIVersion: "v1", Kind: "PodGroup", Namespace: "a", Name: "flock"}, Namespace: "a", Name: "flock", Members: []*cluster.Object{snap.Get(cluster.Pod, "a", "hen")}}
	all := []*workload.Workload{of("Job", "train", workload.Managed), of("Pod", "train-x", workload.Elsewhere), of("Pod", "serve-1-y", workload.Managed), group}

	cases := map[string]struct {
		args    []string
		want    []string
		wantErr string
	}{
		"the job itself":                         {args: []string{"job/train"}, want: []string{"w-train"}},
		"the Workload by its name":               {args: []string{"wl/w-train"}, want: []string{"w-train"}},
		"a pod of the job leads to the job":      {args: []string{"pod/train-x"}, want: []string{"w-train"}},
		"a deployment leads to its pods":         {args: []string{"deploy/serve"}, want: []string{"w-serve-1-y"}},
		"a replica set, too":                     {args: []string{"rs", "serve-1"}, want: []string{"w-serve-1-y"}},
		"a pod of a group leads to the group":    {args: []string{"pod/hen"}, want: []string{"flock"}},
		"the group by its name":                  {args: []string{"podgroup/flock"}, want: []string{"flock"}},
		"all of a type, children left out":       {args: []string{"pods"}, want: []string{"w-serve-1-y", "flock"}},
		"everything, children left out":          {want: []string{"w-train", "w-serve-1-y", "flock"}},
		"owners that go round in a circle":       {args: []string{"pod/egg"}, wantErr: "pod/egg not found in namespace a"},
		"one of two is missing, the other shown": {args: []string{"job/train", "job/nope"}, want: []string{"w-train"}, wantErr: "job/nope not found in namespace a"},
		"a type without workloads is no error":   {args: []string{"jobsets"}},
		"several types":                          {args: []string{"jobs,podgroup"}, want: []string{"w-train", "flock"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			targets, err := parseTargets(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			found, err := choose(snap, all, &options{namespace: "a", labels: labels.Everything(), targets: targets})
			var got []string
			for _, w := range found {
				got = append(got, w.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("chosen (-want +got):\n%s", diff)
			}
			if text := errorText(err); text != tc.wantErr {
				t.Errorf("error %q, want %q", text, tc.wantErr)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
