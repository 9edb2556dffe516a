package e2e

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// With a job controller, the claim controller and the scheduler at work, an admitted job has a pod, the pod a claim
// made from the template, and the claim a device of the node. None of it changes what the job is charged.
func TestRunningJobs(t *testing.T) {
	cp := ownControlPlane(t, controlplane.Options{})
	if err := cp.StartControllers(short(t)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claim-template", "extended-resource"} {
		t.Run(name, func(t *testing.T) {
			if err := cp.StartKueue(short(t), []byte(read(t, walkthrough(name, "kueue.yaml")))); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { clear(t, cp) })
			apply(t, cp, read(t, fixture("running/node.yaml"), walkthrough(name, "cluster.yaml")))
			awaitQueues(t, cp)
			apply(t, cp, read(t, walkthrough(name, "job.yaml")))
			job := map[string]string{"claim-template": "claim", "extended-resource": "extended"}[name]
			want := want{state: "Admitted", charge: oneGPU}
			w := awaitDecision(t, cp, job, want)
			awaitNode(t, cp)
			checkExplained(t, cp, job, want, w)
			var all chargeList
			gpuQuota(t, cp, controlplane.Admin, &all, "charge", "-n", "team")
			for _, c := range all.Items {
				if c.Owner.Kind != "Job" && (c.Verdict != "Unmanaged" || len(c.Total) > 0) {
					t.Errorf("%s %s is charged %v besides its job (%s)", c.Owner.Kind, c.Owner.Name, c.Total, c.Verdict)
				}
			}
		})
	}
}

// awaitNode waits until the scheduler has found a node, and with it a device, for the only pod.
func awaitNode(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	pods, err := cp.Resource("v1", "Pod")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := cp.Resource("resource.k8s.io/v1", "ResourceClaim")
	if err != nil {
		t.Fatal(err)
	}
	err = controlplane.Until(short(t), func(ctx context.Context) error {
		found, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		made, err := claims.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(found.Items) != 1 || len(made.Items) != 1 {
			return fmt.Errorf("there are %d pods and %d claims", len(found.Items), len(made.Items))
		}
		if node, _, _ := unstructured.NestedString(found.Items[0].Object, "spec", "nodeName"); node != "" {
			return nil
		}
		conditions, _, _ := unstructured.NestedSlice(found.Items[0].Object, "status", "conditions")
		return fmt.Errorf("the pod has no node: %v", conditions)
	})
	if err != nil {
		t.Fatal(err)
	}
}
